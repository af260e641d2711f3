/**
 * A DaemonSet that tests roll: made, edited to another version, and followed to the end by the witness.
 *
 * Each version of the template carries the label `version`, so that a pod tells which one it is of
 * without any knowledge of hashes. What pods are asked to do is said to both backends: to kwok by
 * `rollcall.test/*`, to a local cluster by `simulate.rollcall.dev/*`.
 */
import assert from 'node:assert/strict';
import type { DaemonSetRecord, PodRecord } from '../control-plane/observed-records.ts';
import type { Observer } from '../control-plane/observer.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { daemonSetUid, livePodsByNode } from '../scenarios/expectations.ts';
import type { Stage } from '../scenarios/stage.ts';
import { measureRollout, type RolloutReport } from './availability.ts';

export interface Version {
  readonly version: string;
  /** From bound to ready; at once without it. */
  readonly readyDelayMs?: number;
  /** Its image cannot be pulled. */
  readonly isBad?: boolean;
}

export interface RolledOptions {
  readonly name: string;
  /** Where its pods belong. */
  readonly nodes: readonly string[];
  readonly strategy: unknown;
  readonly minReadySeconds?: number;
  readonly tolerations?: readonly unknown[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly first?: Version;
  /** For the first pods. */
  readonly deadlineMs?: number;
}

/** A DaemonSet under test. */
export interface Rolled {
  readonly uid: string;
  readonly name: string;
  readonly nodes: readonly string[];
  readonly minReadySeconds: number;
}

/** The strategy RollingUpdate with these bounds. */
export function rollingUpdate(bounds: {
  readonly maxUnavailable?: number | string;
  readonly maxSurge?: number | string;
}): unknown {
  const { maxSurge = 0 } = bounds;
  const maxUnavailable = bounds.maxUnavailable ?? (maxSurge === 0 ? 1 : 0);
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } };
}

/** Creates it and waits until every node has an available pod. */
export async function createRolled(stage: Stage, options: RolledOptions): Promise<Rolled> {
  const { name, nodes, strategy, minReadySeconds, tolerations, nodeSelector } = options;
  const first = options.first ?? { version: 'a' };
  const daemonSet = testDaemonSet({
    name,
    updateStrategy: strategy,
    image: imageOf(first),
    podLabels: { version: first.version },
    podAnnotations: delayAnnotations(first.readyDelayMs),
    ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
    ...(tolerations === undefined ? {} : { tolerations }),
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  });
  await stage.admin.post(daemonSetPath({}), daemonSet);
  const uid = await daemonSetUid(stage, { namespace: 'default', name });
  const rolled = { uid, name, nodes, minReadySeconds: minReadySeconds ?? 0 };
  const { deadlineMs = DEADLINE_MS } = options;
  await expectVersion(stage, rolled, { version: first.version, deadlineMs });
  return rolled;
}

/** Edits the template. Resolves to the number of events before: where the rollout begins. */
export async function edit(stage: Stage, rolled: Rolled, to: Version): Promise<number> {
  const fromEvent = stage.observer.events.length;
  const annotations =
    to.readyDelayMs === undefined ? NO_DELAY_ANNOTATIONS : delayAnnotations(to.readyDelayMs);
  await stage.admin.patch(daemonSetPath({ name: rolled.name }), {
    spec: {
      template: {
        metadata: { labels: { version: to.version }, annotations },
        spec: { containers: [{ name: 'agent', image: imageOf(to) }] },
      },
    },
  });
  return fromEvent;
}

/** Deletes the DaemonSets of tests and waits for their pods to go: the next test has the nodes for itself. */
export async function removeAll(stage: Stage): Promise<void> {
  const remaining = ({ daemonSets }: Observer): readonly DaemonSetRecord[] =>
    [...daemonSets.values()].filter(({ namespace }) => namespace === 'default');
  for (const { name } of remaining(stage.observer)) {
    await stage.admin.delete(daemonSetPath({ name }));
  }
  await waitFor(
    stage,
    (observer) => {
      // Pods of a node that is gone wait for garbage collection: for a minute, and for nobody here.
      const { pods, nodes } = observer;
      const left = [...pods.values()].filter(({ node = '' }) => nodes.has(node));
      return remaining(observer).length === 0 && left.length === 0;
    },
    { description: 'the DaemonSets and their pods are gone' },
  );
}

/** The live pods of the rolled nodes. */
export function livePods(stage: Stage, rolled: Rolled): readonly PodRecord[] {
  return [...livePodsByNode(stage.observer, rolled.uid).values()].flat();
}

/** UID of the live pod of each node. */
export function podUids(stage: Stage, rolled: Rolled): ReadonlyMap<string, string> {
  return new Map(livePods(stage, rolled).map((pod) => [pod.node ?? '', pod.uid]));
}

/** Nodes whose live pods are all of a version. */
export function nodesAt(observer: Observer, rolled: Rolled, version: string): readonly string[] {
  const live = livePodsByNode(observer, rolled.uid);
  return rolled.nodes.filter((node) => {
    const pods = live.get(node) ?? [];
    return pods.length > 0 && pods.every((pod) => pod.labels['version'] === version);
  });
}

/** Waits until every node has one ready pod of that version, and until the status says so. */
export async function expectVersion(
  stage: Stage,
  rolled: Rolled,
  version: string | { readonly version: string; readonly deadlineMs: number },
): Promise<void> {
  const { version: wanted, deadlineMs = DEADLINE_MS } =
    typeof version === 'string' ? { version } : version;
  const count = rolled.nodes.length;
  await waitFor(
    stage,
    (observer) => {
      const record = observer.daemonSets.get(rolled.uid);
      if (record === undefined || record.observedGeneration !== record.generation) return false;
      const counters = ['desiredNumberScheduled', 'updatedNumberScheduled', 'numberAvailable'];
      if (!counters.every((name) => record.status[name] === count)) return false;
      const pods = [...observer.podsByNode(rolled.uid).values()].flat();
      const isRight = (pod: PodRecord): boolean =>
        pod.isReady && !pod.isDeleting && pod.labels['version'] === wanted;
      return pods.length === count && pods.every(isRight);
    },
    { description: `${rolled.name} is at version ${wanted} everywhere`, deadlineMs },
  );
}

/** Waits until a run that was allowed to act has seen the last edit; then lets things come to rest. */
export async function expectRest(stage: Stage, rolled: Rolled): Promise<void> {
  await waitFor(
    stage,
    ({ daemonSets }) => {
      const record = daemonSets.get(rolled.uid);
      return record !== undefined && record.observedGeneration === record.generation;
    },
    { description: `the last edit of ${rolled.name} is observed` },
  );
  await waitUntilStill(stage);
}

/** As the observer's wait; the error shows where the DaemonSet stood and what the engine did last. */
export async function waitFor(
  stage: Stage,
  predicate: (observer: Observer) => boolean,
  options: { readonly description: string; readonly deadlineMs?: number },
): Promise<void> {
  const { description, deadlineMs = DEADLINE_MS } = options;
  try {
    await stage.observer.waitUntil(predicate, { description, deadlineMs });
  } catch (error) {
    const statuses = [...stage.observer.daemonSets.values()].map(
      ({ name, status }) => `${name} ${JSON.stringify(status)}`,
    );
    throw new Error(`${description}\n${statuses.join('\n')}\n${stage.activity.tail(30)}`, {
      cause: error,
    });
  }
}

/** Waits until no pod has changed for a while: what may not go on has then stopped. */
export async function waitUntilStill(stage: Stage, quietMs = STILL_MS): Promise<void> {
  await stage.observer.waitUntilQuiet({ quietMs, deadlineMs: DEADLINE_MS });
}

export function reportSince(stage: Stage, rolled: Rolled, fromEvent: number): RolloutReport {
  const { uid, nodes, minReadySeconds } = rolled;
  return measureRollout(stage.observer.events, {
    daemonSetUid: uid,
    nodes,
    minReadySeconds,
    fromEvent,
  });
}

/**
 * Without surge: never fewer than all but `maxUnavailable` nodes with an available pod, and never an
 * available pod deleted where that many were unavailable already (S3).
 */
export function assertWithinBudget(
  report: RolloutReport,
  rolled: Rolled,
  maxUnavailable: number,
): void {
  const { availableNodesMin, deletions } = report;
  const least = rolled.nodes.length - maxUnavailable;
  assert.ok(
    availableNodesMin >= least,
    `${String(availableNodesMin)} nodes available at the lowest, instead of ${String(least)}`,
  );
  const beyond = deletions.filter(
    (deletion) => deletion.wasAvailable && deletion.unavailableNodesBefore >= maxUnavailable,
  );
  assert.deepEqual(beyond, [], 'S3: an available pod was deleted beyond the budget');
  assert.ok(report.livePodsPerNodeMax <= 1, 'S1: two live pods on one node');
}

const DEADLINE_MS = 150_000;
/** Longer than any reaction of Rollcall that is not a due time. */
const STILL_MS = 1500;

const NO_DELAY_ANNOTATIONS = {
  'rollcall.test/ready-delay-ms': null,
  'simulate.rollcall.dev/pod': null,
} as const;

function delayAnnotations(readyDelayMs: number | undefined): Readonly<Record<string, string>> {
  if (readyDelayMs === undefined) return {};
  return {
    'rollcall.test/ready-delay-ms': String(readyDelayMs),
    'simulate.rollcall.dev/pod': `start=${String(readyDelayMs)}ms`,
  };
}

function imageOf({ version, isBad = false }: Version): string {
  return `registry.example/${isBad ? 'cannot-pull' : 'agent'}:${version}`;
}
