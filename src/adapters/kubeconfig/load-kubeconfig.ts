/**
 * Opens a context of a user's own kubeconfig: `KubeConfig` of client-node loads what was judged here, and authenticates.
 *
 * A kubeconfig is code (faults §5): it names files, programs and proxies. It is read only where a person passes one on a
 * command line; the registry never stores one (S12). What would be passed over is refused with its name, and no secret
 * is part of a refusal (S11). client-node takes half a second to load: only here, and late.
 */
import * as v from 'valibot';
import path from 'node:path';
import type { RequestOptions } from 'node:https';
import { Agent } from 'node:http';
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterAuthentication } from '../../core/model/registration.ts';
import {
  PluginAuthenticator,
  refusePlugin,
  type PluginSource,
  type RunPlugin,
  PLUGIN_PROVIDER,
} from './credential-plugin.ts';
import {
  readKubeconfigFiles,
  type ContextEntry,
  type KubeconfigEntries,
  type KubeconfigPath,
  type RawEntry,
  KubeconfigRefused,
  clusterSchema,
  clusterWithDetourSchema,
  userSchema,
  type KubeconfigCluster,
  type KubeconfigUser,
} from './read-files.ts';
import type { Cluster, User } from '@kubernetes/client-node';

/** The files and the context to load. */
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

interface ReadCredential {
  readonly authentication: ClusterAuthentication;
  readonly expiresAtMs?: number;
}

const providerSchema = v.object({
  name: v.string(),
  config: v.optional(
    v.object({ tokenFile: v.optional(v.string()), 'id-token': v.optional(v.string()) }),
    {},
  ),
});
const claimsSchema = v.object({ exp: v.number() });

/** The credential in the options that client-node filled. Throws KubeconfigRefused. */
function readCredential(options: RequestOptions, user: User): ReadCredential {
  const { cert, key } = options;
  if (isText(cert) && isText(key)) {
    const pair = { certificatePem: String(cert), keyPem: String(key) };
    return { authentication: { kind: 'client-certificate', ...pair } };
  }
  const provider = v.safeParse(providerSchema, user.authProvider);
  const token = bearerIn(options);
  if (token === '') {
    if (!provider.success) return { authentication: { kind: 'none' } };
    throw refuseProvider(user.name, provider.output);
  }
  const idToken = provider.success ? provider.output.config['id-token'] : undefined;
  return {
    authentication: { kind: 'bearer', token },
    ...(idToken === undefined ? {} : endOf(idToken)),
  };
}

/** One certificate or key; TLS would take several of each. */
function isText(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value);
}

function bearerIn({ headers }: RequestOptions): string {
  const header =
    headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : '';
  return String(header)
    .replace(/^Bearer /, '')
    .trim();
}

function refuseProvider(
  userName: string,
  { config }: v.InferOutput<typeof providerSchema>,
): KubeconfigRefused {
  if (config.tokenFile !== undefined) {
    return new KubeconfigRefused('file-unreadable', `the token file ${config.tokenFile} is empty`);
  }
  const message =
    `user "${userName}": the id-token of its auth-provider has ended, or is none; ` +
    'kubectl renews it when it is used with this context';
  return new KubeconfigRefused('token-ended', message);
}

/** Of a token that client-node could read. */
function endOf(idToken: string): { readonly expiresAtMs?: number } {
  const [, payload = ''] = idToken.split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  const parsed = v.safeParse(claimsSchema, claims);
  return parsed.success ? { expiresAtMs: parsed.output.exp * 1000 } : {};
}

/** Why client-node gave up; what no kubeconfig can be the reason of stays as it is. */
function refusalOf(error: unknown, cluster: Cluster, user: User): unknown {
  if (error instanceof KubeconfigRefused) return error;
  const provider = v.safeParse(providerSchema, user.authProvider);
  const { tokenFile, 'id-token': idToken } = provider.success ? provider.output.config : {};
  const files = {
    'certificate-authority': cluster.caFile,
    'client-certificate': user.certFile,
    'client-key': user.keyFile,
    token: tokenFile,
  };
  const { code = 'unknown error', path: file } = error as NodeJS.ErrnoException;
  const [label] =
    Object.entries(files).find(([, named]) => named === file && file !== undefined) ?? [];
  if (label !== undefined && file !== undefined) {
    return new KubeconfigRefused(
      'file-unreadable',
      `cannot read the ${label} file ${file}: ${code}`,
    );
  }
  if (idToken === undefined) return error;
  const message = `user "${user.name}": auth-provider.config.id-token is no token`;
  return new KubeconfigRefused('malformed', message);
}

interface JudgedCluster {
  readonly entry: KubeconfigCluster;
  readonly cluster: Cluster;
}

interface JudgedUser {
  readonly user: User;
  /** The plugin that it takes to be this user. */
  readonly exec?: NonNullable<KubeconfigUser['exec']>;
}

/**
 * Judges a cluster; `hasDetours` if the client supports a proxy and another server name. Throws
 * KubeconfigRefused.
 */
function judgeCluster({ name, content, directory }: RawEntry, hasDetours: boolean): JudgedCluster {
  const parsed = hasDetours
    ? v.safeParse(clusterWithDetourSchema, content, { abortEarly: true })
    : v.safeParse(clusterSchema, content, { abortEarly: true });
  if (!parsed.success) throw refuseField(`cluster "${name}"`, parsed.issues[0], 'cluster');
  const entry: KubeconfigCluster = parsed.output;
  const ca = material(entry, 'certificate-authority', directory);
  const { 'tls-server-name': tlsServerName, 'proxy-url': proxyUrl } = entry;
  return {
    entry,
    cluster: {
      name,
      server: entry.server,
      skipTLSVerify: entry['insecure-skip-tls-verify'] === true,
      ...defined({ caData: ca?.data, caFile: ca?.file, tlsServerName, proxyUrl }),
    },
  };
}

/**
 * Judges a user, in kubectl's order: a client certificate, then a token, a token file, a provider's token, a plugin.
 * client-node reads `token-file` where kubectl writes `tokenFile`, and renews a provider's token without writing the new
 * one back, which would end the session of the person's own kubectl: it is given the token alone.
 */
function judgeUser({ name, content, directory }: RawEntry): JudgedUser {
  const parsed = v.safeParse(userSchema, content, { abortEarly: true });
  if (!parsed.success) throw refuseField(`user "${name}"`, parsed.issues[0], 'user');
  const entry = parsed.output;
  const certificate = material(entry, 'client-certificate', directory);
  const key = material(entry, 'client-key', directory);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new KubeconfigRefused(
      'malformed',
      'client-certificate and client-key must come together',
    );
  }
  if (certificate !== undefined) {
    const files = { certFile: certificate.file, keyFile: key?.file };
    const data = { certData: certificate.data, keyData: key?.data };
    return { user: { name, ...defined({ ...files, ...data }) } };
  }
  const credential = tokenOf(entry, directory);
  if (credential !== undefined) return { user: { name, ...credential } };
  const { exec } = entry;
  if (exec === undefined) return { user: { name } };
  return { user: { name, authProvider: { name: PLUGIN_PROVIDER } }, exec };
}

/** Where a certificate or key stands: inline as base64, or in a file. */
function material<Name extends 'certificate-authority' | 'client-certificate' | 'client-key'>(
  entry: { readonly [field in Name | `${Name}-data`]?: string | undefined },
  name: Name,
  directory: string,
): { readonly data?: string; readonly file?: string } | undefined {
  const { [`${name}-data` as const]: data = '', [name]: file = '' } = entry;
  if (data !== '') return { data };
  return file === '' ? undefined : { file: path.resolve(directory, file) };
}

function tokenOf(entry: KubeconfigUser, directory: string): Partial<User> | undefined {
  const { token = '', tokenFile = '', 'auth-provider': provider } = entry;
  if (token !== '') return { token };
  if (tokenFile !== '') {
    const config = { tokenFile: path.resolve(directory, tokenFile) };
    return { authProvider: { name: 'tokenFile', config } };
  }
  if (provider === undefined) return undefined;
  return { authProvider: { name: 'oidc', config: { 'id-token': provider.config?.['id-token'] } } };
}

function refuseField(whose: string, issue: v.BaseIssue<unknown>, whole: string): KubeconfigRefused {
  const field = v.getDotPath(issue) ?? whole;
  return field.endsWith('-data') && issue.type === 'regex'
    ? new KubeconfigRefused('malformed', `${whose}: ${field} is not base64`)
    : new KubeconfigRefused('unsupported', `${whose}: ${field} is not supported`);
}
