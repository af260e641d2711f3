/**
 * What any test cluster offers to a test: where it is, who may talk to it, and kubectl.
 *
 * Both the processes that control-plane.ts starts and an existing cluster named by a kubeconfig
 * (test-cluster.ts) look like this.
 */
import type { ApiConnection } from './api.ts';
import { kubeconfigPathOf, type Wiring } from './component-flags.ts';
import { TEST_ACTORS, writeKubeconfigFile, type Actor, type TestActor } from './identities.ts';

/** A cluster that tests may talk to. */
export interface ClusterAccess {
  readonly name: string;
  readonly server: string;
  readonly caPem: string;
  readonly tokens: Readonly<Record<TestActor, string>>;
  readonly kubectlPath: string;
  /** The admin's. */
  readonly kubeconfigPath: string;
  /** Writes an actor's kubeconfig, readable by its owner only, and returns its path. */
  readonly writeKubeconfig: (actor: TestActor) => string;
  readonly connectionOf: (actor: TestActor) => ApiConnection;
}

/** Writes the kubeconfigs of all actors and describes the access to a started API server. */
export function describeAccess(parts: {
  readonly name: string;
  readonly wiring: Wiring;
  readonly server: string;
  readonly caPem: string;
}): ClusterAccess {
  const { name, wiring, server, caPem } = parts;
  const { tokens } = wiring.identities;
  const writeKubeconfig = (actor: Actor): string => {
    const path = kubeconfigPathOf(wiring, actor);
    writeKubeconfigFile(path, {
      clusterName: name,
      server,
      caPem,
      userName: actor,
      token: tokens[actor],
    });
    return path;
  };
  for (const actor of ['controllerManager', 'scheduler', 'kwok'] as const) writeKubeconfig(actor);
  for (const actor of TEST_ACTORS) writeKubeconfig(actor);
  return {
    name,
    server,
    caPem,
    tokens,
    kubectlPath: wiring.binaries.kubectl,
    kubeconfigPath: kubeconfigPathOf(wiring, 'admin'),
    writeKubeconfig,
    connectionOf: (actor) => ({ server, caPem, token: tokens[actor] }),
  };
}
