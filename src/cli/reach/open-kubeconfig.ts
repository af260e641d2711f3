/**
 * Opens a context of the user's own kubeconfig, for the person at the terminal or as a cluster for the engine.
 *
 * An exec credential plugin in it may run here, and only here (design 8): registry data can never name
 * one. Refusals become sentences; a file that asks to skip the verification of the server is refused.
 */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { defined } from '@rollcall/base/defined.ts';
import type { CredentialPlugin } from '../../adapters/kubeconfig/credential-plugin.ts';
import { loadKubeconfig } from '../../adapters/kubeconfig/load-kubeconfig.ts';
import type {
  KubeconfigOptions,
  LoadedKubeconfig,
} from '../../adapters/kubeconfig/load-kubeconfig.ts';
import {
  readKubeconfigFiles,
  type KubeconfigPath,
  KubeconfigRefused,
} from '../../adapters/kubeconfig/read-files.ts';
import { parseEndpoint } from '../../adapters/kubernetes/egress/endpoint.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { EngineCluster } from '../../engine/engine-options.ts';
import { usageError } from '../process/exit-codes.ts';

/** Which context of which kubeconfig. */
export interface KubeconfigPlace {
  readonly file: KubeconfigPath;
  /** Default: the current one. */
  readonly context?: string;
}

const PLUGIN_TIMEOUT_MS = 30_000;
/** As the user gave it: the engine sets AWS variables for its handlers, which are no plugin's business. */
const USER_ENVIRONMENT = { ...process.env };

/** Where kubectl would look: the files of KUBECONFIG, merged, or the one in the home directory. */
export function defaultKubeconfig(environment: Readonly<NodeJS.ProcessEnv>): KubeconfigPath {
  const files = (environment['KUBECONFIG'] ?? '').split(path.delimiter).filter((one) => one !== '');
  if (files.length > 1) return files;
  return files[0] ?? path.join(environment['HOME'] ?? homedir(), '.kube', 'config');
}

/** Opens a context. Throws CommandError when it cannot be used. */
export async function openKubeconfig(
  { file, context }: KubeconfigPlace,
  detours: NonNullable<KubeconfigOptions['detours']> = 'refused',
): Promise<LoadedKubeconfig> {
  const options = { path: file, parseServer: parseEndpoint, runPlugin, detours };
  const kubeconfig = await explained(
    loadKubeconfig({ ...options, ...defined({ context }) }),
    file,
    '--context NAME get nodes',
  );
  if (!kubeconfig.isInsecure) return kubeconfig;
  throw usageError(
    `${nameOf(file)} asks to skip the verification of the server’s certificate.`,
    'Put the cluster’s certificate authority into the kubeconfig instead.',
  );
}

/** Loads the cluster that the options name. Throws CommandError when it cannot be used. */
export async function loadCluster(
  place: KubeconfigPlace,
  mode: ClusterMode,
): Promise<EngineCluster> {
  const kubeconfig = await openKubeconfig(place);
  const { server, caPem, authentication, expiresAtMs } = kubeconfig;
  const renew = (): Promise<LoadedKubeconfig> => openKubeconfig(place);
  const renewal = expiresAtMs === undefined ? undefined : { expiresAtMs, renew };
  return {
    id: clusterId(idFor(kubeconfig.clusterName)),
    server,
    mode,
    watcher: authentication,
    // Without a credential no bug and no race can write anything (design 5, mode observe).
    functions: mode === 'observe' ? { kind: 'none' } : authentication,
    probe: authentication,
    ...defined({ caPem, renewal }),
  };
}

/** A cluster id made of the kubeconfig's name for it: lower case, digits and dashes. */
function idFor(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  return id === '' ? 'cluster' : id;
}

/** The names of all contexts; no file that it names is read, no program run. Throws CommandError. */
export async function listContexts(file: KubeconfigPath): Promise<readonly string[]> {
  const { contexts } = await explained(readKubeconfigFiles(file), file, 'config get-contexts');
  return contexts.map(({ name }) => name);
}

/**
 * Name of the context that leads to this server, the current one first; undefined when none does. No program is run.
 * Throws CommandError.
 */
export async function findContext(
  file: KubeconfigPath,
  server: string,
): Promise<string | undefined> {
  const { contexts, clusters, currentContext } = await explained(
    readKubeconfigFiles(file),
    file,
    'config get-contexts',
  );
  const wanted = URL.parse(server)?.href;
  const leadThere = contexts.filter(({ cluster }) => {
    const { content } = clusters.find(({ name }) => name === cluster) ?? { content: undefined };
    const address = (content as { readonly server?: unknown } | undefined)?.server;
    return typeof address === 'string' && URL.parse(address)?.href === wanted;
  });
  const names = leadThere.map(({ name }) => name);
  return names.includes(currentContext) ? currentContext : names[0];
}

/** The files as a person names them. */
export function nameOf(file: KubeconfigPath): string {
  return typeof file === 'string' ? file : file.join(path.delimiter);
}

/** The kubeconfig; a refusal becomes a sentence with a remedy. */
async function explained<T>(
  reading: Promise<T>,
  file: KubeconfigPath,
  attempt: string,
): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof KubeconfigRefused)) throw error;
    const { message, available } = error;
    const known = available === undefined ? '' : ` It has: ${available.join(', ')}.`;
    throw usageError(
      `${nameOf(file)} cannot be used: ${message}${known}`,
      `Try \`kubectl --kubeconfig FILE ${attempt}\` with the same file.`,
      error,
    );
  }
}

async function runPlugin(plugin: CredentialPlugin): Promise<string> {
  const { stdout } = await promisify(execFile)(plugin.command, [...plugin.args], {
    env: { ...USER_ENVIRONMENT, ...plugin.env },
    timeout: PLUGIN_TIMEOUT_MS,
  });
  return stdout;
}
