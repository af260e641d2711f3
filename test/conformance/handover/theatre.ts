/**
 * A real control plane on which the DaemonSets change hands: the built-in loop can be switched, and
 * Rollcall started and stopped, while three DaemonSets are steady, rolling and surging.
 *
 * Pods are compared by UID. Each version of a template carries the label `version`, so that a pod tells
 * which one it is of without any knowledge of hashes.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';
import { openBareStage, stageCluster, type BareStage } from '../scenarios/stage.ts';

/** Names of the nodes. */
export const NODE_NAMES: readonly string[] = Array.from(
  { length: 8 },
  (_, index) => `plain-${String(index + 1)}`,
);

/** The three starting states of a handover, as DaemonSets that are in them. */
export const STATES = ['steady', 'rolling', 'surging'] as const;
export type State = (typeof STATES)[number];

export interface Theatre extends BareStage {
  readonly controlPlane: ControlPlane;
  readonly kubectl: Kubectl;
  /** Starts Rollcall in takeover on the same data as before; one that runs is stopped first. */
  readonly startRollcall: (options?: { readonly probeWaitMs: number }) => Promise<Engine>;
  readonly stopRollcall: () => Promise<void>;
}

/** No leader election runs here, so the built-in loop shows itself at once. */
const PROBE_WAIT_MS = 3_000;
const READY_DELAY_MS = 700;
/** In a rollout: a machine that stalls for a while must still meet it half-way. */
const ROLLOUT_READY_DELAY_MS = 2500;
const DEADLINE_MS = 240_000;

const STRATEGIES: Readonly<Record<State, unknown>> = {
  steady: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  rolling: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  surging: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 2 } },
};

/** Opens it with the built-in loop on; the caller owes `close()`. */
export async function openTheatre(): Promise<Theatre> {
  const nodes = NODE_NAMES.map((name) => fakeNode({ name }));
  const stage = await openBareStage({ name: 'handover', backend: 'real', nodes });
  const { controlPlane, access } = stage.cluster;
  assert.ok(controlPlane !== undefined, 'needs a control plane of its own');
  await controlPlane.setDaemonSetController('on');
  const directory = await mkdtemp(join(tmpdir(), 'handover-'));
  let engine: Engine | undefined;
  const stopRollcall = async (): Promise<void> => {
    await engine?.stop();
    engine = undefined;
  };
  return {
    ...stage,
    controlPlane,
    kubectl: bindKubectl({
      program: access.kubectlPath,
      kubeconfigPath: access.kubeconfigPath,
      cacheDirectory: join(directory, 'kubectl'),
    }),
    startRollcall: async ({ probeWaitMs } = { probeWaitMs: PROBE_WAIT_MS }) => {
      await stopRollcall();
      engine = await startEngine({
        clusters: [stageCluster(stage.cluster)],
        dataDir: join(directory, 'data'),
        log: stage.activity.log,
        metrics: stage.activity.metrics,
        probeWaitMs,
      });
      return engine;
    },
    stopRollcall,
    close: async () => {
      await stopRollcall();
      await stage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Creates the three DaemonSets, and waits until each node has a ready pod of each. */
export async function createAll({ admin, observer }: Theatre): Promise<void> {
  for (const state of STATES) {
    const daemonSet = testDaemonSet({
      name: state,
      updateStrategy: STRATEGIES[state],
      podLabels: { version: 'a' },
      podAnnotations: { 'rollcall.test/ready-delay-ms': String(READY_DELAY_MS) },
      ...(state === 'surging' ? { minReadySeconds: 2 } : {}),
    });
    await admin.post(daemonSetPath({}), daemonSet);
  }
  await observer.waitUntil(
    ({ pods }) => [...pods.values()].filter(({ isReady }) => isReady).length === 24,
    { deadlineMs: DEADLINE_MS, description: 'a ready pod of each DaemonSet on each node' },
  );
}

/** Starts a rollout of the rolling and the surging one to a new version. */
export async function startRollouts({ admin }: Theatre, version: string): Promise<void> {
  const annotations = { 'rollcall.test/ready-delay-ms': String(ROLLOUT_READY_DELAY_MS) };
  for (const name of ['rolling', 'surging']) {
    await admin.patch(daemonSetPath({ name }), {
      spec: { template: { metadata: { labels: { version }, annotations } } },
    });
  }
}

/** Live pods of one of the DaemonSets. */
export function podsOf({ observer }: Theatre, state: State): readonly PodRecord[] {
  const uid = [...observer.daemonSets.values()].find(({ name }) => name === state)?.uid;
  return uid === undefined ? [] : [...livePodsByNode(observer, uid).values()].flat();
}

/** Waits until both rollouts are under way: pods of both versions, two on one node while surging. */
export async function waitUntilHalfWay(theatre: Theatre, version: string): Promise<void> {
  const newOnes = (state: State): number =>
    podsOf(theatre, state).filter(({ labels }) => labels['version'] === version).length;
  await theatre.observer.waitUntil(() => newOnes('rolling') >= 2 && newOnes('surging') >= 2, {
    deadlineMs: DEADLINE_MS,
    description: `half-way to version ${version}`,
  });
}

export interface Handed {
  /** Pods of the version that the DaemonSet has, by DaemonSet: none of them may go. */
  readonly current: Readonly<Record<State, readonly PodRecord[]>>;
  /** Pods of an older version, by DaemonSet: these the rollout replaces. */
  readonly older: Readonly<Record<State, readonly PodRecord[]>>;
  readonly revisions: readonly string[];
}

/** Notes what stands now; `version` is the one that the rolled ones are going to. */
export async function noteHanded(theatre: Theatre, version: string): Promise<Handed> {
  const versionOf = (state: State): string => (state === 'steady' ? 'a' : version);
  const sort = (isCurrent: boolean): Record<State, readonly PodRecord[]> => {
    const of = (state: State): readonly PodRecord[] =>
      podsOf(theatre, state).filter(
        ({ labels }) => (labels['version'] === versionOf(state)) === isCurrent,
      );
    return { steady: of('steady'), rolling: of('rolling'), surging: of('surging') };
  };
  return { current: sort(true), older: sort(false), revisions: await listRevisions(theatre) };
}

/** UIDs of all ControllerRevisions of the namespace, sorted. */
async function listRevisions({ admin }: Theatre): Promise<readonly string[]> {
  const { items } = await admin.list('/apis/apps/v1/namespaces/default/controllerrevisions');
  return items.map(({ metadata }) => metadata.uid ?? '').sort();
}

/** The rollouts end; every pod of the current version that was handed over still stands. */
export async function expectFinished(
  theatre: Theatre,
  handed: Handed,
  version: string,
): Promise<void> {
  for (const state of STATES) {
    await theatre.kubectl.succeed(`rollout status daemonset/${state} --timeout=220s`);
  }
  await theatre.observer.waitUntil(
    () =>
      STATES.every((state) => {
        const pods = podsOf(theatre, state);
        const wanted = state === 'steady' ? 'a' : version;
        return (
          pods.length === NODE_NAMES.length &&
          pods.every(({ labels, isReady }) => isReady && labels['version'] === wanted)
        );
      }),
    { deadlineMs: DEADLINE_MS, description: `everything ready in version ${version}` },
  );
  for (const state of STATES) {
    const live = new Set(podsOf(theatre, state).map(({ uid }) => uid));
    const lost = handed.current[state].filter(({ uid }) => !live.has(uid));
    assert.deepEqual(
      lost.map(({ name }) => name),
      [],
      `${state}: restarted\n${theatre.activity.tail(30)}`,
    );
  }
  assert.deepEqual(await listRevisions(theatre), handed.revisions, 'no revision was made or lost');
  await expectCounts(theatre);
  assertNoDoubles(theatre);
}

/** Never two pods on one node, but the pair of two revisions of which surging consists (S1, S2). */
export function assertNoDoubles({ observer }: Theatre): void {
  const uidOf = (state: State): string | undefined =>
    [...observer.daemonSets.values()].find(({ name }) => name === state)?.uid;
  const wrong = observer.violations.filter(
    ({ daemonSetUid, podUids, revisionHashes }) =>
      daemonSetUid !== uidOf('surging') || new Set(revisionHashes).size !== podUids.length,
  );
  assert.deepEqual(wrong, []);
}

/** Every counter says that all is done. */
async function expectCounts({ observer }: Theatre): Promise<void> {
  const all = NODE_NAMES.length;
  await observer.waitUntil(
    ({ daemonSets }) =>
      [...daemonSets.values()].every(
        ({ status, generation, observedGeneration }) =>
          observedGeneration === generation &&
          status['desiredNumberScheduled'] === all &&
          status['currentNumberScheduled'] === all &&
          status['updatedNumberScheduled'] === all &&
          status['numberAvailable'] === all &&
          (status['numberUnavailable'] ?? 0) === 0 &&
          status['numberMisscheduled'] === 0,
      ),
    { deadlineMs: DEADLINE_MS, description: 'counters of a finished rollout' },
  );
}
