/**
 * Ten DaemonSets on plain nodes, and what the independent witness says of all their pods.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { plainNodes } from '../control-plane/nodes.ts';
import { createRolled, livePods, podUids, rollingUpdate, waitFor } from '../rollouts/rolled.ts';
import type { Rolled } from '../rollouts/rolled.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';

/** What is in the cluster. */
export interface Fleet {
  readonly stage: Stage;
  readonly sets: readonly Rolled[];
}

export interface FleetSize {
  readonly nodes: number;
  readonly daemonSets: number;
}

/** Pods by node, for each DaemonSet by name. */
export type Pods = ReadonlyMap<string, ReadonlyMap<string, string>>;

const DEADLINE_MS = 480_000;
const STATUS_NUMBERS = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'updatedNumberScheduled',
  'numberReady',
  'numberAvailable',
];
/** Long enough that whatever acts without leave would have acted. */
const QUIET_MS = 6_000;

/** Opens a real control plane with an engine in takeover, and waits until every pod is ready. */
export async function openFleet(name: string, size: FleetSize): Promise<Fleet> {
  const nodes = plainNodes(size.nodes);
  const stage = await openStage({ backend: 'real', name, nodes });
  try {
    const sets = await Promise.all(
      Array.from({ length: size.daemonSets }, (_, index) =>
        createRolled(stage, {
          name: `agent-${String(index)}`,
          nodes: nodes.map(({ metadata }) => metadata.name),
          strategy: rollingUpdate({ maxUnavailable: '20%' }),
          deadlineMs: DEADLINE_MS,
        }),
      ),
    );
    const fleet = { stage, sets };
    await expectStatuses(fleet);
    return fleet;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

/** UIDs of all live pods. */
export function podsOf({ stage, sets }: Fleet): Pods {
  return new Map(sets.map((set) => [set.name, podUids(stage, set)]));
}

/** No pod came or went, by UID, while this was done and for a moment after it. */
export async function withoutPodChange<Result>(
  { stage }: Fleet,
  action: () => Promise<Result>,
): Promise<Result> {
  const from = stage.observer.events.length;
  const result = await action();
  await delay(QUIET_MS);
  const changes = stage.observer.events
    .slice(from)
    .filter(({ type, record }) => record.kind === 'Pod' && type !== 'MODIFIED')
    .map(({ type, record }) => `${type} ${record.name}`);
  assert.deepEqual(changes, []);
  return result;
}

/** Waits until every status says that all nodes have a ready pod of the newest template. */
export async function expectStatuses({ stage, sets }: Fleet, nodes?: number): Promise<void> {
  await waitFor(
    stage,
    ({ daemonSets }) =>
      sets.every((set) => {
        const record = daemonSets.get(set.uid);
        if (record === undefined || record.generation !== record.observedGeneration) return false;
        return STATUS_NUMBERS.every((name) => record.status[name] === (nodes ?? set.nodes.length));
      }),
    { description: 'every status is right', deadlineMs: DEADLINE_MS },
  );
}

/** Waits until the view of the cluster is whole, or is not. */
export async function expectView({ stage }: Fleet, isComplete: boolean): Promise<void> {
  const endsAtMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const engine = stage.engine();
    const [clusterUid] = engine.clusterUids.values();
    assert.ok(clusterUid !== undefined);
    const meta = await engine.view.readMeta(clusterUid).catch(() => undefined);
    if (meta?.isComplete === isComplete) return;
    assert.ok(performance.now() < endsAtMs, `the view is ${isComplete ? 'not whole' : 'whole'}`);
    await delay(200);
  }
}

/** Makes a node more, on which every DaemonSet wants a pod. */
export async function addNode({ stage }: Fleet, name: string): Promise<void> {
  const [node] = plainNodes(1);
  assert.ok(node !== undefined);
  const { metadata } = node;
  await stage.admin.post('/api/v1/nodes', {
    ...node,
    metadata: {
      ...metadata,
      name,
      labels: { ...metadata.labels, 'kubernetes.io/hostname': name },
    },
  });
}

/** Waits until every DaemonSet has a pod on a node. */
export async function expectPodsOn({ stage, sets }: Fleet, node: string): Promise<void> {
  await waitFor(stage, () => sets.every((set) => podUids(stage, set).has(node)), {
    description: `${node} has its pods`,
    deadlineMs: DEADLINE_MS,
  });
}

/** Waits until one DaemonSet has a pod of this version, and no other, on so many nodes. */
export async function expectRolled(
  { stage }: Fleet,
  set: Rolled,
  wanted: { readonly version: string; readonly nodes: number },
): Promise<void> {
  await waitFor(
    stage,
    () => {
      const pods = livePods(stage, set);
      const rolled = pods.filter(
        ({ labels, isReady }) => labels['version'] === wanted.version && isReady,
      );
      return rolled.length === wanted.nodes && pods.length === wanted.nodes;
    },
    { description: `${set.name} is at version ${wanted.version}`, deadlineMs: DEADLINE_MS },
  );
}
