/**
 * Reads a user's own kubeconfig file for the CLI: one context, resolved to server, CA and credential.
 *
 * A kubeconfig is code (faults §5): it names files and programs. It is therefore read only where
 * a person passes one on a command line; the registry never stores one (S12). A credential plugin is
 * run only through `runPlugin`, which the CLI gives. What this loader does not understand it refuses
 * with its name, rather than to connect in another way than kubectl would. Secrets are never part of
 * a refusal (S11).
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { parse as parseYaml } from 'yaml';
import type { ClusterAuthentication } from '../../core/model/registration.ts';
import { parseEndpoint } from './endpoint.ts';
import { refuseKubeconfig } from './kubeconfig-refusal.ts';
import type { KubeconfigRefusal } from './kubeconfig-refusal.ts';
import { resolveUser } from './kubeconfig-user.ts';
import type { CredentialPlugin } from './kubeconfig-user.ts';
import { clusterSchema, kubeconfigSchema } from './kubeconfig-schema.ts';
import type { KubeconfigFile } from './kubeconfig-schema.ts';
import { readMaterial } from './kubeconfig-material.ts';

/** What to load. */
export interface KubeconfigOptions {
  /** Path of the kubeconfig file. */
  readonly path: string;
  /** Name of the context; default: the file's current-context. */
  readonly context?: string;
  /**
   * Runs a credential plugin and gives its standard output; given by the CLI only (execFile). Without
   * it a kubeconfig that names a plugin is refused: registry data can never execute code (S12).
   */
  readonly runPlugin?: (plugin: CredentialPlugin) => Promise<string>;
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
}

/** Result of loading a kubeconfig. */
export type KubeconfigResult =
  { readonly kind: 'loaded'; readonly kubeconfig: LoadedKubeconfig } | KubeconfigRefusal;

const FILE_BYTES_MAX = 1024 * 1024;
const ALIASES_MAX = 100;

async function readKubeconfig(
  file: string,
): Promise<{ readonly kind: 'file'; readonly content: KubeconfigFile } | KubeconfigRefusal> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return refuseKubeconfig('unreadable', `cannot read ${file}: ${code ?? 'unknown error'}`);
  }
  if (text.length > FILE_BYTES_MAX) {
    return refuseKubeconfig('malformed', `${file} is larger than any kubeconfig`);
  }
  let document: unknown;
  try {
    // Its warnings quote the file as well.
    document = parseYaml(text, { maxAliasCount: ALIASES_MAX, logLevel: 'error' });
  } catch {
    // The parser's message quotes the file, which holds credentials.
    return refuseKubeconfig('malformed', `${file} is not YAML`);
  }
  const parsed = v.safeParse(kubeconfigSchema, document, { abortEarly: true });
  if (parsed.success) return { kind: 'file', content: parsed.output };
  const field = v.getDotPath(parsed.issues[0]) ?? 'the whole';
  return refuseKubeconfig('malformed', `${file} is not a kubeconfig: see ${field}`);
}

function findNamed<T extends { readonly name: string }>(
  entries: readonly T[],
  name: string,
): T | undefined {
  return entries.find((entry) => entry.name === name);
}

type ClusterPart = Pick<LoadedKubeconfig, 'clusterName' | 'server' | 'caPem' | 'isInsecure'>;

async function resolveCluster(
  file: KubeconfigFile,
  clusterName: string,
  directory: string,
): Promise<ClusterPart | KubeconfigRefusal> {
  const entry = findNamed(file.clusters, clusterName);
  if (entry === undefined) {
    return refuseKubeconfig('cluster-missing', `there is no cluster "${clusterName}" in the file`);
  }
  const parsed = v.safeParse(clusterSchema, entry.cluster, { abortEarly: true });
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0]) ?? 'cluster';
    return refuseKubeconfig('unsupported', `cluster "${clusterName}": ${field} is not supported`);
  }
  const cluster = parsed.output;
  const endpoint = parseEndpoint(cluster.server);
  if (endpoint.kind === 'refused') {
    return refuseKubeconfig('server-invalid', `cluster "${clusterName}": ${endpoint.message}`);
  }
  const ca = await readMaterial({
    data: cluster['certificate-authority-data'],
    file: cluster['certificate-authority'],
    label: 'certificate-authority',
    directory,
  });
  if (ca.kind === 'refused') return ca;
  return {
    clusterName,
    server: cluster.server,
    ...(ca.text === undefined ? {} : { caPem: ca.text }),
    isInsecure: cluster['insecure-skip-tls-verify'] === true,
  };
}

type ContextPart =
  | {
      readonly kind: 'context';
      readonly name: string;
      readonly cluster: string;
      readonly user: string;
    }
  | KubeconfigRefusal;

function chooseContext(config: KubeconfigFile, wanted: string | undefined): ContextPart {
  const name = wanted ?? config['current-context'] ?? '';
  const entry = findNamed(config.contexts, name);
  if (entry !== undefined) {
    return {
      kind: 'context',
      name,
      cluster: entry.context.cluster,
      user: entry.context.user ?? '',
    };
  }
  const available = config.contexts.map((context) => context.name);
  const message = name === '' ? 'no context is chosen' : `there is no context "${name}"`;
  return refuseKubeconfig('context-missing', message, available);
}

/**
 * Reads one context of a kubeconfig file. A refusal says what is wrong and, for a missing context,
 * which ones there are.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<KubeconfigResult> {
  const file = await readKubeconfig(options.path);
  if (file.kind === 'refused') return file;
  const { content } = file;
  const context = chooseContext(content, options.context);
  if (context.kind === 'refused') return context;
  const directory = path.dirname(path.resolve(options.path));
  const cluster = await resolveCluster(content, context.cluster, directory);
  if ('kind' in cluster) return cluster;
  const user = findNamed(content.users, context.user);
  if (user === undefined && context.user !== '') {
    return refuseKubeconfig('user-missing', `there is no user "${context.user}" in the file`);
  }
  const resolved = await resolveUser({
    name: context.user,
    user: user?.user ?? {},
    directory,
    ...(options.runPlugin === undefined ? {} : { runPlugin: options.runPlugin }),
  });
  if (resolved.kind === 'refused') return resolved;
  const { kind: _kind, ...credential } = resolved;
  return { kind: 'loaded', kubeconfig: { context: context.name, ...cluster, ...credential } };
}
