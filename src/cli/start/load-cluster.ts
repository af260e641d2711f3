/**
 * From a kubeconfig to the cluster that the engine manages.
 *
 * The kubeconfig is the user's own, so an exec credential plugin in it may run here, and only here
 * (design 8): registry data can never name one.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { loadKubeconfig } from '../../adapters/kubernetes/kubeconfig.ts';
import type { LoadedKubeconfig } from '../../adapters/kubernetes/kubeconfig.ts';
import type { CredentialPlugin } from '../../adapters/kubernetes/kubeconfig-user.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { EngineCluster } from '../../local/engine-options.ts';
import { CommandError, EXIT } from '../exit-codes.ts';
import type { ClusterChoice } from './options.ts';

const PLUGIN_TIMEOUT_MS = 30_000;
/** As the user gave it: the engine sets AWS variables for its handlers, which are no plugin's business. */
const USER_ENVIRONMENT = { ...process.env };

/** A cluster that a kubeconfig names, and how to manage it. */
export type KubeconfigChoice = Extract<ClusterChoice, { readonly kind: 'kubeconfig' }>;

/** Loads the cluster that the options name. Throws CommandError when it cannot be used. */
export async function loadCluster(
  choice: KubeconfigChoice,
  mode: ClusterMode,
): Promise<EngineCluster> {
  const kubeconfig = await load(choice);
  const { authentication, expiresAtMs } = kubeconfig;
  return {
    id: clusterId(idFor(kubeconfig.clusterName)),
    server: kubeconfig.server,
    ...(kubeconfig.caPem === undefined ? {} : { caPem: kubeconfig.caPem }),
    mode,
    watcher: authentication,
    // Without a credential no bug and no race can write anything (design 5, mode observe).
    functions: mode === 'observe' ? { kind: 'none' } : authentication,
    probe: authentication,
    ...(expiresAtMs === undefined ? {} : { renewal: { expiresAtMs, renew: () => load(choice) } }),
  };
}

async function load(options: KubeconfigChoice): Promise<LoadedKubeconfig> {
  const result = await loadKubeconfig({
    path: options.kubeconfig,
    ...(options.context === undefined ? {} : { context: options.context }),
    runPlugin,
  });
  if (result.kind === 'refused') {
    const known = result.available === undefined ? '' : ` It has: ${result.available.join(', ')}.`;
    throw new CommandError({
      message: `${options.kubeconfig} cannot be used: ${result.message}${known}`,
      remedy: 'Try `kubectl --kubeconfig FILE --context NAME get nodes` with the same file.',
      exitCode: EXIT.usage,
    });
  }
  if (result.kubeconfig.isInsecure) {
    throw new CommandError({
      message: `${options.kubeconfig} asks to skip the verification of the server’s certificate.`,
      remedy: 'Put the cluster’s certificate authority into the kubeconfig instead.',
      exitCode: EXIT.usage,
    });
  }
  return result.kubeconfig;
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

async function runPlugin(plugin: CredentialPlugin): Promise<string> {
  const { stdout } = await promisify(execFile)(plugin.command, [...plugin.args], {
    env: { ...USER_ENVIRONMENT, ...plugin.env },
    timeout: PLUGIN_TIMEOUT_MS,
  });
  return stdout;
}
