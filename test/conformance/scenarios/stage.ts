/**
 * The stage of a scenario: a control plane, real or local (backends.ts), with varied nodes, an independent
 * witness, and Rollcall's engine with watcher and functions each under the RBAC that is shipped.
 *
 * The engine runs the deployed handlers in this process; it can be stopped and started again on the
 * same data. Nothing here decides what is right: scenarios say what they expect, by node.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { createNodes, fakeNode } from '../control-plane/nodes.ts';
import { startObserver, type Observer } from '../control-plane/observer.ts';
import type { TestCluster } from '../control-plane/test-cluster.ts';
import { clusterId } from '../../../src/core/model/identifiers.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import type { EngineCluster, EngineOptions } from '../../../src/engine/engine-options.ts';
import { READINESS_ANNOTATION } from '@rollcall/local-cluster/machines/machine.ts';
import { openBackend, type Backend } from './backends.ts';
import { applyFiles } from './manifests.ts';
import { repositoryPath } from './repository.ts';
import { readRules, untilInForce } from '../rights/rbac-rules.ts';
import { createActivityLog, type ActivityLog } from './activity-log.ts';

const ADMISSION_FILES = ['infra/admission/policy.yaml', 'infra/admission/every-daemon-set.yaml'];

/** Names of the twenty nodes by the part they play. */
export const NODES = {
  controlPlane: ['control-plane-1'],
  gpu: ['gpu-1', 'gpu-2', 'gpu-3'],
  gpuInMaintenance: ['gpu-4'],
  cordoned: ['cordoned-1', 'cordoned-2'],
  notReady: ['not-ready-1', 'not-ready-2'],
  storage: ['storage-1', 'storage-2', 'storage-3'],
  plain: Array.from({ length: 8 }, (_, index) => `plain-${String(index + 1)}`),
} as const;

/**
 * Nodes that an agent without tolerations runs on. A NotReady node carries not-ready:NoSchedule, which
 * the automatic tolerations do not cover (spec 2.6); a cordoned one is covered.
 */
export const UNTAINTED: readonly string[] = [...NODES.cordoned, ...NODES.storage, ...NODES.plain];

const GPU_TAINT = {
  key: 'accelerator.example.com/gpu',
  value: 'present',
  effect: 'NoSchedule',
} as const;

/** The twenty nodes of the issue: control plane, GPU pool, cordoned, NotReady, storage, plain. */
function stageNodes(): KubernetesObject[] {
  const gpuLabels = { 'accelerator.example.com/gpu': 'a100' };
  return [
    ...NODES.controlPlane.map((name) =>
      fakeNode({
        name,
        role: 'control-plane',
        labels: { 'node-role.kubernetes.io/control-plane': '' },
        taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
      }),
    ),
    ...NODES.gpu.map((name) =>
      fakeNode({ name, role: 'gpu', labels: gpuLabels, taints: [GPU_TAINT] }),
    ),
    ...NODES.gpuInMaintenance.map((name) =>
      fakeNode({
        name,
        role: 'gpu',
        labels: { ...gpuLabels, 'maintenance.example.com/active': 'true' },
        taints: [GPU_TAINT],
      }),
    ),
    ...NODES.cordoned.map((name) => fakeNode({ name, role: 'cordoned', isCordoned: true })),
    ...NODES.notReady.map((name) =>
      neverReady(
        fakeNode({ name, role: 'not-ready', labels: { 'rollcall.test/never-ready': 'true' } }),
      ),
    ),
    ...NODES.storage.map((name) =>
      fakeNode({ name, role: 'storage', labels: { 'storage.example.com/local-disks': 'true' } }),
    ),
    ...NODES.plain.map((name) => fakeNode({ name })),
  ];
}

/** The fake kubelets of a real control plane obey the label, the machines of a local cluster the annotation. */
function neverReady(node: KubernetesObject): KubernetesObject {
  const annotations = { ...node.metadata.annotations, [READINESS_ANNOTATION]: 'never' };
  return { ...node, metadata: { ...node.metadata, annotations } };
}

/** A cluster with nodes, RBAC and a witness; Rollcall does not run yet. */
export interface BareStage {
  readonly cluster: TestCluster;
  readonly admin: ApiClient;
  readonly observer: Observer;
  /** Log lines of the engine, newest last. */
  readonly activity: ActivityLog;
  readonly close: () => Promise<void>;
}

/** A stage that a scenario plays on. */
export interface Stage extends BareStage {
  readonly engine: () => Engine;
  /** Stops the engine and starts it again on the same data, with these options from then on. */
  readonly restartEngine: (changes?: Partial<EngineOptions>) => Promise<void>;
}

export interface StageOptions {
  readonly name: string;
  readonly backend: Backend;
  readonly nodes?: readonly KubernetesObject[];
  /** Which of the shipped rights the functions have; default: those of takeover. */
  readonly rights?: keyof typeof RIGHTS;
  /** More options of the engine, e.g. faults. */
  readonly engine?: Partial<EngineOptions>;
}

/** Manifests of the functions' rights, the RBAC first, and of the admission that narrows them. */
const RIGHTS = {
  takeover: ['infra/functions/rbac.yaml', ...ADMISSION_FILES],
  copilot: ['infra/copilot/rbac.yaml', 'infra/copilot/admission.yaml'],
} as const;

/** No control plane here has a built-in loop, and never a leader election to wait for. */
const PROBE_WAIT_MS = 3000;

/** Sets a stage on which Rollcall does not run; the caller owes `close()`. */
export async function openBareStage(
  options: Pick<StageOptions, 'name' | 'backend' | 'nodes' | 'rights'>,
): Promise<BareStage> {
  const [functionsRbac, ...admission] = RIGHTS[options.rights ?? 'takeover'];
  const cluster = await openBackend(options.backend, options.name);
  const admin = createApiClient(cluster.access.connectionOf('admin'));
  const observer = await startObserver(cluster.access.connectionOf('observer'));
  await applyFiles(admin, [
    repositoryPath('infra/watcher/rbac.yaml'),
    repositoryPath(functionsRbac),
    // A local cluster stores admission policies and does not enforce them.
    ...(options.backend === 'real' ? admission.map(repositoryPath) : []),
  ]);
  await createNodes(admin, options.nodes ?? stageNodes());
  await waitForRights(cluster, functionsRbac);
  return {
    cluster,
    admin,
    observer,
    activity: createActivityLog(),
    close: async () => {
      await observer.stop();
      admin.close();
      await cluster.close();
    },
  };
}

/** Until both actors have their rights: an engine that starts before is refused, as it should be. */
async function waitForRights({ access }: TestCluster, functionsRbac: string): Promise<void> {
  const files = { watcher: 'infra/watcher/rbac.yaml', functions: functionsRbac } as const;
  for (const actor of ['watcher', 'functions'] as const) {
    const client = createApiClient(access.connectionOf(actor));
    await untilInForce(client, readRules(files[actor])).finally(client.close);
  }
}

/** Sets a stage with Rollcall's engine in takeover; the caller owes `close()`. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const bare = await openBareStage(options);
  const dataDir = await mkdtemp(join(tmpdir(), `${options.name}-data-`));
  let engineOptions: EngineOptions = {
    clusters: [stageCluster(bare.cluster)],
    dataDir,
    log: bare.activity.log,
    metrics: bare.activity.metrics,
    probeWaitMs: PROBE_WAIT_MS,
    ...options.engine,
  };
  const firstStart = startEngine(engineOptions);
  firstStart.catch(bare.close);
  let engine = await firstStart;
  return {
    ...bare,
    engine: () => engine,
    restartEngine: async (changes) => {
      await engine.stop();
      engineOptions = { ...engineOptions, ...changes };
      engine = await startEngine(engineOptions);
    },
    close: async () => {
      await engine.stop();
      await bare.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Each actor under its own token, so that the shipped RBAC is what is tested. */
export function stageCluster({ access }: TestCluster): EngineCluster {
  return {
    id: clusterId('conformance'),
    server: access.server,
    caPem: access.caPem,
    watcher: { kind: 'bearer', token: access.tokens.watcher },
    functions: { kind: 'bearer', token: access.tokens.functions },
    probe: { kind: 'bearer', token: access.tokens.admin },
    mode: 'takeover',
  };
}
