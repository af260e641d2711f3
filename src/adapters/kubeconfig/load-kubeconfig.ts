/**
 * Opens a context of a user's own kubeconfig: `KubeConfig` of client-node loads it and authenticates.
 *
 * A kubeconfig is code (faults §5): it names files, programs and proxies. It is therefore read only where a person passes one
 * on a command line; the registry never stores one (S12). A credential plugin runs only through `runPlugin`, which
 * the CLI gives. What would be passed over is refused with its name, rather than to connect in another way than
 * kubectl would. Secrets are never part of a refusal (S11). client-node takes half a second to load: only here, and late.
 */
import type { RequestOptions } from 'node:https';
import { Agent } from 'node:http';
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterAuthentication } from '../../core/model/registration.ts';
import { PluginAuthenticator, refusePlugin } from './credential-plugin.ts';
import type { PluginSource, RunPlugin } from './credential-plugin.ts';
import { readCredential, refusalOf } from './credential.ts';
import { judgeCluster, judgeUser, type JudgedCluster, type JudgedUser } from './entries.ts';
import { readKubeconfigFiles } from './read-files.ts';
import type { ContextEntry, KubeconfigEntries, KubeconfigPath, RawEntry } from './read-files.ts';
import { KubeconfigRefused } from './refusal.ts';

/** What to load. */
export interface KubeconfigOptions {
  readonly path: KubeconfigPath;
  /** Name of the context; default: the current-context. */
  readonly context?: string;
  /** Judges the form of a server's address. */
  readonly parseServer: (
    server: string,
  ) => { readonly kind: 'endpoint' } | { readonly kind: 'refused'; readonly message: string };
  /** Given by the CLI only (execFile); without it a plugin is refused: registry data can never execute code (S12). */
  readonly runPlugin?: RunPlugin;
  /** `allowed` where the loaded `agent` connects; else a proxy or another server name is refused (default). */
  readonly detours?: 'allowed' | 'refused';
}

/** A context of a kubeconfig, resolved: everything needed to reach its cluster. */
export interface LoadedKubeconfig {
  readonly context: string;
  readonly clusterName: string;
  readonly server: string;
  readonly caPem?: string;
  /** `none`, `bearer` or `client-certificate`; never `eks`. */
  readonly authentication: ClusterAuthentication;
  /** When a plugin's credential ends: load again before that. */
  readonly expiresAtMs?: number;
  /** True if the file asks to skip TLS verification. */
  readonly isInsecure: boolean;
  /** Connects through the proxy, or to the server under its other name; absent if the server is reached as it is named. */
  readonly agent?: Agent;
}

interface Chosen {
  readonly context: ContextEntry;
  readonly cluster: JudgedCluster;
  readonly user: JudgedUser;
  readonly plugin?: PluginSource;
}

/** Reads one context of a kubeconfig. Throws KubeconfigRefused; for a missing context, with those that there are. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<LoadedKubeconfig> {
  const chosen = choose(await readKubeconfigFiles(options.path), options);
  return authenticate(chosen, options.runPlugin);
}

function choose(
  entries: KubeconfigEntries,
  { context: wanted, parseServer, runPlugin, detours }: KubeconfigOptions,
): Chosen {
  const named = wanted ?? entries.currentContext;
  const context = entries.contexts.find(({ name }) => name === named);
  if (context === undefined) {
    const available = entries.contexts.map(({ name }) => name);
    const message = named === '' ? 'no context is chosen' : `there is no context "${named}"`;
    throw new KubeconfigRefused('context-missing', message, { available });
  }
  const rawCluster = entries.clusters.find(({ name }) => name === context.cluster);
  if (rawCluster === undefined) {
    const message = `there is no cluster "${context.cluster}" in the file`;
    throw new KubeconfigRefused('cluster-missing', message);
  }
  const cluster = judgeCluster(rawCluster, detours === 'allowed');
  const server = parseServer(cluster.entry.server);
  if (server.kind === 'refused') {
    const message = `cluster "${context.cluster}": ${server.message}`;
    throw new KubeconfigRefused('server-invalid', message);
  }
  const rawUser = userOf(entries, context);
  const user = judgeUser(rawUser);
  if (user.exec === undefined) return { context, cluster, user };
  const { server: address, 'proxy-url': proxyUrl } = cluster.entry;
  const plugin: PluginSource = {
    exec: user.exec,
    userName: context.user,
    directory: rawUser.directory,
    cluster: { server: address, 'proxy-url': proxyUrl },
  };
  const refused = refusePlugin(plugin, runPlugin);
  if (refused !== undefined) throw refused;
  return { context, cluster, user, plugin };
}

function userOf(entries: KubeconfigEntries, { user }: ContextEntry): RawEntry {
  if (user === '') return { name: '', content: {}, directory: '' };
  const found = entries.users.find(({ name }) => name === user);
  if (found !== undefined) return found;
  throw new KubeconfigRefused('user-missing', `there is no user "${user}" in the file`);
}

async function authenticate(
  chosen: Chosen,
  runPlugin: RunPlugin | undefined,
): Promise<LoadedKubeconfig> {
  const { context, cluster, user, plugin } = chosen;
  // Not its index, which loads everything else that client-node can do.
  const { KubeConfig } = await import('@kubernetes/client-node/dist/config.js');
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [cluster.cluster],
    users: [user.user],
    contexts: [context],
    currentContext: context.name,
  });
  const authenticator =
    plugin === undefined || runPlugin === undefined
      ? undefined
      : new PluginAuthenticator(plugin, runPlugin);
  if (authenticator !== undefined) config.addAuthenticator(authenticator);
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw refusalOf(error, cluster.cluster, user.user);
  }
  const credential = readCredential(options, user.user);
  const expiresAtMs = authenticator?.expiresAtMs ?? credential.expiresAtMs;
  return { ...connectionOf(chosen, options), ...credential, ...defined({ expiresAtMs }) };
}

function connectionOf(
  { context, cluster: { cluster, entry } }: Chosen,
  { ca, rejectUnauthorized, agent }: RequestOptions,
): Omit<LoadedKubeconfig, 'authentication'> {
  const isDetour = cluster.proxyUrl !== undefined || cluster.tlsServerName !== undefined;
  return {
    context: context.name,
    clusterName: context.cluster,
    server: entry.server,
    isInsecure: rejectUnauthorized === false,
    ...defined({
      caPem: ca === undefined ? undefined : String(ca),
      agent: isDetour && agent instanceof Agent ? agent : undefined,
    }),
  };
}
