/**
 * DaemonSets change hands on a real control plane: takeover and hand-back, each while one is
 * steady, one half-way through a rolling update and one surging; and a built-in loop that comes back.
 *
 * The steps build on each other: one control plane, one story.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { findStatusPause } from '../../../src/core/status/status-writers.ts';
import { EngineRefusal } from '../../../src/engine/engine-refusal.ts';
import { type Engine, startEngine } from '../../../src/engine/engine.ts';
import type { KubernetesObject as ApiObject } from '../control-plane/api.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { LogEntry } from '@rollcall/base/log-of.ts';
import { daemonSetPath, podPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { stageCluster, openBareStage, type BareStage } from '../scenarios/stage.ts';
import { handBackFrom } from './hand-back.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';

/** Names of the nodes. */
const NODE_NAMES: readonly string[] = Array.from(
  { length: 8 },
  (_, index) => `plain-${String(index + 1)}`,
);

/** The three starting states of a handover, as DaemonSets that are in them. */
const STATES = ['steady', 'rolling', 'surging'] as const;
type State = (typeof STATES)[number];

interface Theatre extends BareStage {
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
async function openTheatre(): Promise<Theatre> {
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
async function createAll({ admin, observer }: Theatre): Promise<void> {
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
async function startRollouts({ admin }: Theatre, version: string): Promise<void> {
  const annotations = { 'rollcall.test/ready-delay-ms': String(ROLLOUT_READY_DELAY_MS) };
  for (const name of ['rolling', 'surging']) {
    await admin.patch(daemonSetPath({ name }), {
      spec: { template: { metadata: { labels: { version }, annotations } } },
    });
  }
}

/** Live pods of one of the DaemonSets. */
function podsOf({ observer }: Theatre, state: State): readonly PodRecord[] {
  const uid = [...observer.daemonSets.values()].find(({ name }) => name === state)?.uid;
  return uid === undefined ? [] : [...livePodsByNode(observer, uid).values()].flat();
}

/** Waits until both rollouts are under way: pods of both versions, two on one node while surging. */
async function waitUntilHalfWay(theatre: Theatre, version: string): Promise<void> {
  const newOnes = (state: State): number =>
    podsOf(theatre, state).filter(({ labels }) => labels['version'] === version).length;
  await theatre.observer.waitUntil(() => newOnes('rolling') >= 2 && newOnes('surging') >= 2, {
    deadlineMs: DEADLINE_MS,
    description: `half-way to version ${version}`,
  });
}

interface Handed {
  /** Pods of the version that the DaemonSet has, by DaemonSet: none of them may go. */
  readonly current: Readonly<Record<State, readonly PodRecord[]>>;
  /** Pods of an older version, by DaemonSet: these the rollout replaces. */
  readonly older: Readonly<Record<State, readonly PodRecord[]>>;
  readonly revisions: readonly string[];
}

/** Notes what stands now; `version` is the one that the rolled ones are going to. */
async function noteHanded(theatre: Theatre, version: string): Promise<Handed> {
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
async function expectFinished(theatre: Theatre, handed: Handed, version: string): Promise<void> {
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
function assertNoDoubles({ observer }: Theatre): void {
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

const SENTINEL = '/apis/apps/v1/namespaces/rollcall-system/daemonsets/rollcall-takeover-probe';
const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

describe('handover', { timeout: 1_700_000, skip }, () => {
  let theatre: Theatre;
  let engine: Engine;

  before(async () => {
    theatre = await openTheatre();
    await createAll(theatre);
  });

  after(() => (theatre as Theatre | undefined)?.close());

  it('refuses takeover while the built-in loop is on, and leaves nothing behind', async () => {
    const pods = STATES.flatMap((state) => podsOf(theatre, state)).map(({ uid }) => uid);
    await assert.rejects(
      // It ends as soon as the loop shows itself, however slow that is here.
      theatre.startRollcall({ probeWaitMs: 90_000 }),
      (error) => error instanceof EngineRefusal && error.code === 'built-in-controller-runs',
    );
    await assert.rejects(theatre.admin.get(SENTINEL), /404|not found/i);
    assert.deepEqual(
      STATES.flatMap((state) => podsOf(theatre, state)).map(({ uid }) => uid),
      pods,
    );
  });

  it('takes over steady, rolling and surging DaemonSets without a restart, and finishes', async () => {
    await startRollouts(theatre, 'b');
    await waitUntilHalfWay(theatre, 'b');
    await theatre.controlPlane.setDaemonSetController('off');
    const handed = await noteHanded(theatre, 'b');
    assert.ok(handed.older.rolling.length > 0 && handed.current.rolling.length > 0, 'half-way');
    assert.ok(handed.older.surging.length > 0 && handed.current.surging.length > 0, 'surging');
    engine = await theatre.startRollcall();
    await expectFinished(theatre, handed, 'b');
    const steady = podsOf(theatre, 'steady').map(({ uid }) => uid);
    assert.deepEqual(new Set(steady), new Set(handed.current.steady.map(({ uid }) => uid)));
    const { status } = await theatre.admin.get(SENTINEL);
    assert.equal((status as { observedGeneration?: number }).observedGeneration ?? 0, 0);
    const [overview] = await engine.overview();
    assert.deepEqual(overview?.daemonSets.map(({ name }) => name).sort(), [...STATES].sort());
  });

  it('hands back steady, rolling and surging DaemonSets without a restart; the built-in loop finishes', async () => {
    await startRollouts(theatre, 'c');
    await waitUntilHalfWay(theatre, 'c');
    const progress: string[] = [];
    const result = await handBackFrom(engine, stageCluster(theatre.cluster), (text) =>
      progress.push(text),
    );
    assert.ok(result.kind === 'handed-back' && result.wasTakenOver, JSON.stringify(result));
    assert.ok(progress.length > 0);
    const handed = await noteHanded(theatre, 'c');
    assert.ok(handed.older.rolling.length > 0 && handed.current.rolling.length > 0, 'half-way');
    assert.ok(handed.older.surging.length > 0 && handed.current.surging.length > 0, 'surging');
    await assert.rejects(theatre.admin.get(SENTINEL), /404|not found/i);
    await theatre.controlPlane.setDaemonSetController('on');
    await expectFinished(theatre, handed, 'c');
    // The engine still runs, and only observes.
    const [overview] = await engine.overview();
    assert.equal(overview?.mode, 'observe');
    await theatre.stopRollcall();
  });

  it('stops within one reconcile when the built-in loop comes back, and says so (row 58)', async () => {
    await theatre.controlPlane.setDaemonSetController('off');
    const handed = await noteHanded(theatre, 'c');
    engine = await theatre.startRollcall();
    await expectFinished(theatre, handed, 'c');
    const { createdAtMs } = await readSentinel(theatre);
    const before = await theatre.admin.get(daemonSetPath({ name: 'steady' }));
    assert.equal(
      foreignWriter(before, createdAtMs),
      undefined,
      'what the loop wrote earlier is old',
    );
    const switchedOnAtMs = Date.now();
    await theatre.controlPlane.setDaemonSetController('on');
    const { observer, admin, activity, cluster } = theatre;
    for (const name of STATES) {
      const { status } = await waitForNotice(theatre, name);
      const notice = conditionsOf(status).find(({ type }) => type === 'RollcallPaused');
      assert.equal(notice?.status, 'True');
    }
    await expectFinished(theatre, handed, 'c');
    const isRival = ({ fields }: LogEntry): boolean => fields['code'] === 'conflicting-controller';
    const errors = activity.lines.filter((line) => line.level === 'error' && isRival(line));
    assert.equal(errors.length, 1, activity.tail(30));
    // An event is sent after the status that it tells of.
    const description = 'an event for each DaemonSet';
    const told = await pollUntil({ deadlineMs: 60_000, description }, async () => {
      const { items } = await admin.list(
        '/api/v1/namespaces/default/events?fieldSelector=reason%3DConflictingController',
      );
      const rivals = items.filter(({ reason }) => reason === 'ConflictingController');
      return rivals.length >= STATES.length ? rivals : undefined;
    });
    assert.equal(told.length, STATES.length, 'one event for each DaemonSet');
    // From now on the pods are the built-in loop's: Rollcall adds none beside it.
    const [victim] = podsOf(theatre, 'steady');
    assert.ok(victim !== undefined);
    await admin.delete(podPath(victim));
    await observer.waitUntil(
      ({ pods }) => !pods.has(victim.uid) && podsOf(theatre, 'steady').length === NODE_NAMES.length,
      { deadlineMs: 120_000, description: 'the built-in loop replaced the pod' },
    );
    assertNoDoubles(theatre);
    const written = await waitForObject(
      theatre,
      'steady',
      (object) => foreignWriter(object, createdAtMs) !== undefined,
    );
    assert.equal(foreignWriter(written, createdAtMs), 'kube-controller-manager');
    const touched = await cluster.readAudit?.({
      user: userNameOf('functions'),
      resource: 'pods',
      sinceMs: switchedOnAtMs,
      where: ({ verb }) => verb !== 'get' && verb !== 'list',
    });
    assert.deepEqual(touched, [], 'no pod was touched beside the built-in loop');
    assert.equal(activity.counted('ConflictingControllers'), 1);
  });

  it('takes over anew once the built-in loop is off again, and withdraws the notice', async () => {
    await theatre.stopRollcall();
    await theatre.controlPlane.setDaemonSetController('off');
    const handed = await noteHanded(theatre, 'c');
    engine = await theatre.startRollcall();
    await expectFinished(theatre, handed, 'c');
    for (const name of STATES) {
      await waitForConditions(theatre, name, (conditions) => conditions.length === 0);
    }
  });
});

interface Condition {
  readonly type: string;
  readonly status: string;
}

function conditionsOf(status: unknown): readonly Condition[] {
  return (status as { readonly conditions?: readonly Condition[] }).conditions ?? [];
}

/** Who else wrote the status, by what a live read comes with. */
function foreignWriter(object: ApiObject, sinceMs: number): string | undefined {
  const nowMs = Date.now();
  const times = { sinceMs, answeredAtMs: nowMs, nowMs };
  return findStatusPause(object as KubernetesObject, times)?.manager;
}

async function readSentinel({ admin }: Theatre): Promise<{ readonly createdAtMs: number }> {
  const { metadata } = await admin.get(SENTINEL);
  return { createdAtMs: Date.parse(metadata.creationTimestamp ?? '') };
}

function waitForNotice(theatre: Theatre, name: string) {
  return waitForConditions(theatre, name, (conditions) => conditions.length > 0);
}

function waitForConditions(
  theatre: Theatre,
  name: string,
  isEnough: (conditions: readonly Condition[]) => boolean,
) {
  return waitForObject(theatre, name, ({ status }) => isEnough(conditionsOf(status)));
}

async function waitForObject(
  { admin, observer }: Theatre,
  name: string,
  isEnough: (object: ApiObject) => boolean,
): Promise<ApiObject> {
  for (;;) {
    const seen = observer.events.length;
    const object = await admin.get(daemonSetPath({ name }));
    if (isEnough(object)) return object;
    await observer.waitUntil(({ events }) => events.length > seen, {
      deadlineMs: 120_000,
      description: `what ${name} should say`,
    });
  }
}
