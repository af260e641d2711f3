/**
 * From a kubeconfig to the cluster that the engine manages.
 *
 * The kubeconfig is the user's own, so an exec credential plugin in it may run here, and only here
 * (design 8): registry data can never name one.
 */
import type { LoadedKubeconfig } from '../../adapters/kubeconfig/load-kubeconfig.ts';
import type { KubeconfigPath } from '../../adapters/kubeconfig/read-files.ts';
import { clusterId } from '../../core/model/identifiers.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import type { EngineCluster } from '../../engine/engine-options.ts';
import { openKubeconfig } from './open-kubeconfig.ts';

/** A cluster that a kubeconfig names. */
export interface KubeconfigChoice {
  readonly kubeconfig: KubeconfigPath;
  readonly context?: string;
}

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

function load(choice: KubeconfigChoice): Promise<LoadedKubeconfig> {
  const { kubeconfig, context } = choice;
  return openKubeconfig({ file: kubeconfig, ...(context === undefined ? {} : { context }) });
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
