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
import type { Engine } from '../../../src/engine/engine.ts';
import type { KubernetesObject as ApiObject } from '../control-plane/api.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { LogEntry } from '@rollcall/base/log-of.ts';
import { daemonSetPath, podPath } from '../scenarios/daemon-set.ts';
import { stageCluster } from '../scenarios/stage.ts';
import { handBackFrom } from './hand-back.ts';
import {
  NODE_NAMES,
  STATES,
  assertNoDoubles,
  createAll,
  expectFinished,
  noteHanded,
  openTheatre,
  podsOf,
  startRollouts,
  waitUntilHalfWay,
} from './theatre.ts';
import type { Theatre } from './theatre.ts';

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
