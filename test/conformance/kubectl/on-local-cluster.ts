/**
 * A local cluster with machines and Rollcall's engine in takeover, and the kubectl of the release, which is tried on it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';
import { bindKubectl, type Kubectl } from './kubectl.ts';

/** What tests get; valid from the first test on. */
export interface KubectlStage {
  readonly kubectl: () => Kubectl;
  readonly stage: () => Stage;
  /** A directory for files of the test. */
  readonly directory: () => string;
}

/** Nodes of the cluster. */
export const WORKERS = ['worker-1', 'worker-2', 'worker-3', 'worker-4'] as const;

/** The examples that tests use, by name. */
export const EXAMPLE = {
  path: repositoryPath('examples/log-collector.yaml'),
  namespace: 'node-agents',
  name: 'log-collector',
  label: 'app.kubernetes.io/name=log-collector',
} as const;

/** A `describe` with a cluster of its own, on which the example runs. */
export function describeKubectl(title: string, define: (stage: KubectlStage) => void): void {
  const skip = skipWithoutTools([TOOLS.go]);
  describe(`kubectl ${title}`, { skip, timeout: 900_000 }, () => {
    let stage: Stage;
    let kubectl: Kubectl;
    let directory: string;

    before(async () => {
      const program = (await ensureBinaries()).kubectl;
      directory = await mkdtemp(join(tmpdir(), 'rollcall-kubectl-'));
      stage = await openStage({ backend: 'local', name: 'kubectl', nodes: nodes() });
      const { kubeconfigPath } = stage.cluster.access;
      kubectl = bindKubectl({
        program,
        kubeconfigPath,
        cacheDirectory: join(directory, 'cache'),
      });
      await kubectl.succeed(['apply', '-f', EXAMPLE.path]);
      const { namespace, name } = EXAMPLE;
      await kubectl.succeed(`rollout status ds/${name} -n ${namespace} --timeout=150s`);
    });
    after(async () => {
      await (stage as Stage | undefined)?.close();
      await rm(directory, { recursive: true, force: true });
    });

    define({ kubectl: () => kubectl, stage: () => stage, directory: () => directory });
  });
}

function nodes(): ReturnType<typeof fakeNode>[] {
  const controlPlane = fakeNode({
    name: 'control-plane-1',
    labels: { 'node-role.kubernetes.io/control-plane': '' },
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  });
  return [controlPlane, ...WORKERS.map((name) => fakeNode({ name }))];
}
