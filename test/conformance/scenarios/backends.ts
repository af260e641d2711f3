/**
 * What scenarios play on: a real control plane, and the local cluster. The same files run on both.
 *
 * ROLLCALL_SCENARIO_BACKEND=real or =local chooses one. With ROLLCALL_TEST_KUBECONFIG there is only that cluster.
 */
import { describe } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { openTestCluster } from '../control-plane/test-cluster.ts';
import type { TestCluster } from '../control-plane/test-cluster.ts';
import { openLocalTestCluster } from './local-test-cluster.ts';

/** `real`: processes, or the cluster of ROLLCALL_TEST_KUBECONFIG. `local`: packages/local-cluster/src. */
export type Backend = 'real' | 'local';

/** The backends of this run. */
function backendsOf(environment: NodeJS.ProcessEnv): readonly Backend[] {
  const chosen = environment['ROLLCALL_SCENARIO_BACKEND'];
  if (chosen === 'real' || chosen === 'local') return [chosen];
  if (chosen !== undefined) throw new Error(`no scenario backend named ${chosen}`);
  return (environment['ROLLCALL_TEST_KUBECONFIG'] ?? '') === '' ? ['real', 'local'] : ['real'];
}

/**
 * A `describe` for each backend. kubectl is built by Go, so whoever uses it needs Go on both. What
 * takes minutes is usually played on the real one alone; ROLLCALL_SCENARIO_BACKEND asks for the other.
 */
export function describeOnBackends(
  title: string,
  options: { readonly timeout: number; readonly usesKubectl?: true; readonly usually?: 'real' },
  define: (backend: Backend) => void,
): void {
  const isChosen = process.env['ROLLCALL_SCENARIO_BACKEND'] !== undefined;
  for (const backend of backendsOf(process.env)) {
    if (backend === 'local' && options.usually === 'real' && !isChosen) continue;
    const needsGo = backend === 'real' || options.usesKubectl === true;
    const skip = needsGo ? skipWithoutTools([TOOLS.go]) : false;
    const { timeout } = options;
    describe(`${title}, on the ${backend} control plane`, { timeout, skip }, () => {
      define(backend);
    });
  }
}

/** Opens the cluster of a backend; the caller owes `close()`. */
export function openBackend(backend: Backend, name: string): Promise<TestCluster> {
  return backend === 'real'
    ? openTestCluster({ name, limits: 'lifted' })
    : openLocalTestCluster({ name });
}
