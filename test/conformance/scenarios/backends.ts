/**
 * What scenarios play on: a real control plane (with ROLLCALL_TEST_KUBECONFIG that cluster), or with
 * ROLLCALL_SCENARIO_BACKEND=local the local cluster, as .ci/nightly does. The same files run on both.
 */
import { describe } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { openTestCluster, type TestCluster } from '../control-plane/test-cluster.ts';
import { openLocalTestCluster } from './local-test-cluster.ts';

/** `real`: processes, or the cluster of ROLLCALL_TEST_KUBECONFIG. `local`: packages/local-cluster/src. */
export type Backend = 'real' | 'local';

function chosenBackend(environment: NodeJS.ProcessEnv): Backend {
  const chosen = environment['ROLLCALL_SCENARIO_BACKEND'] ?? 'real';
  if (chosen === 'real' || chosen === 'local') return chosen;
  throw new Error(`no scenario backend named ${chosen}`);
}

/** A `describe` on the backend of this run. kubectl is built by Go, so whoever uses it needs Go on both. */
export function describeOnBackend(
  title: string,
  options: { readonly timeout: number; readonly usesKubectl?: true },
  define: (backend: Backend) => void,
): void {
  const backend = chosenBackend(process.env);
  const needsGo = backend === 'real' || options.usesKubectl === true;
  const skip = needsGo ? skipWithoutTools([TOOLS.go]) : false;
  const { timeout } = options;
  describe(`${title}, on the ${backend} control plane`, { timeout, skip }, () => {
    define(backend);
  });
}

/** Opens the cluster of a backend; the caller owes `close()`. */
export function openBackend(backend: Backend, name: string): Promise<TestCluster> {
  return backend === 'real'
    ? openTestCluster({ name, limits: 'lifted' })
    : openLocalTestCluster({ name });
}
