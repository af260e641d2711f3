// One step of a fleet: one decision, made once, and nothing given while somebody holds it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { advanceFleet } from '../../../../../src/core/fleet/rollout/advance-fleet.ts';
import type { FleetStep, StepInput } from '../../../../../src/core/fleet/rollout/advance-fleet.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import type { ClusterVerdict } from '../../../../../src/core/fleet/rollout/judge-cluster.ts';
import { returnTargetOf } from '../../../../../src/core/fleet/rollout/way-back.ts';
import { poolSeenOf } from '../../../../support/fleet-pools.ts';
import { fleetOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import {
  BEGAN_MS,
  ROLLING,
  WELL,
  failedBy,
  failedOf,
  fleetRecordOf,
  givenOf,
  goodOf,
  seenOf,
} from '../../../../support/fleet-records.ts';

const STAGES = [
  { name: 'canary', clusters: 1, soak: '0s' },
  { name: 'early', clusters: 4, soak: '0s', maxConcurrency: 2 },
  { name: 'rest', soak: '0s', maxConcurrency: '10%' },
];
const BY = { by: 'ann', atMs: NOW_MS };
const FREEZE = { by: 'ann', why: 'incident', atMs: NOW_MS };

const returnTargetIn = (...of: Parameters<typeof returnTargetOf>): boolean =>
  returnTargetOf(...of) !== undefined;

function step(input: Partial<StepInput> = {}, strategy: JsonObject = {}): FleetStep {
  return advanceFleet({
    record: fleetRecordOf(),
    strategy: fleetOf({ strategy: { stages: STAGES, ...strategy } }).strategy,
    nowMs: NOW_MS,
    ...input,
  });
}

describe('advanceFleet: small clusters compared with each other', () => {
  const calm = poolSeenOf(['a', 'b'], { logRatios: [0.1, 0.1, 0.1, 0.1], failed: [] });

  it('keeps what the look found in the record, and goes on from it in the next stage', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([givenOf('a', WELL)]);
    const rolling = step({ record, open: { ...open, waitingClusters: 1 }, pool: calm });
    assert.deepEqual(rolling.record.pool, calm.pool);
    const passed = new Map([[0, seenOf([givenOf('z', WELL)])]]);
    const next = step({ record, open, passed, pool: calm });
    assert.deepEqual([next.decision?.kind, next.record.pool], ['stage-opened', calm.pool]);
  });

  it('halts by it', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([givenOf('a', WELL)], { waitingClusters: 1 });
    const { record: halted, decision } = step({ record, open, pool: poolSeenOf(['a', 'b']) });
    assert.deepEqual([decision?.kind, halted.breach?.cause], ['halted', 'NodesFailed']);
    assert.ok(halted.pool, 'for people to look at');
  });
});

describe('advanceFleet: stages', () => {
  it('opens the first stage by a write of its own, and gives nothing in it', () => {
    const { record, decision, giveMax } = step({ record: fleetRecordOf({ stage: -1 }) });
    assert.deepEqual([record.stage, decision?.kind, giveMax], [0, 'stage-opened', 0]);
  });

  it('gives as many as may roll at the same time, less those that roll', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([givenOf('a', ROLLING)], { waitingClusters: 3 });
    assert.equal(step({ record, open }).giveMax, 1);
    const all = seenOf([givenOf('a', ROLLING), givenOf('b', ROLLING)], { waitingClusters: 2 });
    assert.equal(step({ record, open: all }).giveMax, 0);
  });

  it('gives one at a time where a share of the stage is less than one', () => {
    const record = fleetRecordOf({ stage: 2 });
    const none = { stages: [...STAGES.slice(0, 2), { name: 'rest', maxConcurrency: '1%' }] };
    assert.equal(step({ record, open: seenOf([], { waitingClusters: 20 }) }, none).giveMax, 1);
  });

  it('asks for the stages that passed before it opens another one', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([givenOf('b', WELL)]);
    const asked = step({ record, open });
    assert.equal(asked.needsPassed, true);
    assert.deepEqual([asked.record, asked.decision, asked.giveMax], [record, undefined, 0]);
    const passed = new Map([[0, seenOf([givenOf('a', WELL)])]]);
    const next = step({ record, open, passed });
    assert.deepEqual([next.record.stage, next.decision?.kind], [2, 'stage-opened']);
  });

  it('opens none before everyone was looked at lately, of the open stage and of those that passed', () => {
    const record = fleetRecordOf({ stage: 1, wellSinceMs: NOW_MS - 3_600_000 });
    const [whole, part] = [0, 1].map((unseenClusters) =>
      seenOf([givenOf('a', WELL)], { unseenClusters }),
    );
    assert.ok(whole && part);
    for (const [open, before] of [
      [part, whole],
      [whole, part],
    ] as const) {
      const held = step({ record, open, passed: new Map([[0, before]]) });
      assert.equal(held.record.stage, 1);
      assert.deepEqual(held.record.gate, { kind: 'next' });
      assert.equal(held.decision, undefined);
    }
    const opened = step({ record, open: whole, passed: new Map([[0, whole]]) });
    assert.equal(opened.record.stage, 2);
  });

  it('halts at its next gate for what breaks later in a stage that passed', () => {
    const record = fleetRecordOf({ stage: 1 });
    const passed = new Map([[0, seenOf([failedOf('a')])]]);
    const next = step({ record, open: seenOf([givenOf('b', WELL)]), passed });
    assert.deepEqual([next.record.stage, next.decision?.kind], [1, 'halted']);
    assert.equal(next.record.breach?.cause, 'ClustersFailed');
  });

  it('does not halt for clusters of a stage that passed and are merely offline by now', () => {
    const record = fleetRecordOf({ stage: 1 });
    const silent = ['a', 'b', 'c'].map((id) => givenOf(id, { kind: 'offline' }, { phase: 'well' }));
    const passed = new Map([[0, seenOf(silent)]]);
    assert.equal(step({ record, open: seenOf([givenOf('d', WELL)]), passed }).record.stage, 2);
  });

  it('proves the release when its last stage opens, and ends when that passed', () => {
    const passed = new Map([[0, seenOf([givenOf('a', WELL)])]]);
    const record = fleetRecordOf({ stage: 1 });
    const last = step({ record, open: seenOf([givenOf('b', WELL)]), passed }).record;
    assert.deepEqual(
      last.good.map(({ id }) => id),
      ['new', 'old'],
    );
    const done = step({ record: last, open: seenOf([givenOf('c', WELL)]), passed });
    assert.deepEqual([done.record.gate.kind, done.decision?.kind], ['done', 'completed']);
  });

  it('proves a release of one stage at its end alone', () => {
    const one = { stages: [{ name: 'rest', soak: '0s' }] };
    const [dealt] = fleetRecordOf().stages;
    const stages = dealt === undefined ? [] : [dealt];
    const opened = step({ record: fleetRecordOf({ stage: -1, stages }) }, one).record;
    assert.equal(opened.good[0]?.id, 'old');
    const done = step({ record: opened, open: seenOf([givenOf('a', WELL)]) }, one).record;
    assert.equal(done.good[0]?.id, 'new');
  });
});

describe('advanceFleet: silence', () => {
  const offline = seenOf([], { offlineClusters: 4 });

  it('passes over a stage of which nobody is within reach while those before it are seen to be well', () => {
    const record = fleetRecordOf({ stage: 1 });
    const passed = new Map([[0, seenOf([givenOf('a', WELL)])]]);
    assert.equal(step({ record, open: offline, passed }).record.stage, 2);
  });

  it('opens nothing, and proves nothing, when every cluster has fallen silent', () => {
    const record = fleetRecordOf({ stage: 1 });
    const passed = new Map([[0, seenOf([givenOf('a', { kind: 'offline' }, { phase: 'well' })])]]);
    const { record: held, decision } = step({ record, open: offline, passed });
    assert.deepEqual([held.stage, decision, held.gate.kind], [1, undefined, 'no-evidence']);
    assert.equal(held.good[0]?.id, 'old');
  });

  it('goes on when a person agrees to that', () => {
    const orders = { approved: { ...BY, stepIndex: 3 } };
    const record = fleetRecordOf({ stage: 1, orders });
    const passed = new Map([[0, seenOf([givenOf('a', { kind: 'offline' })])]]);
    assert.equal(step({ record, open: offline, passed }).record.stage, 2);
  });
});

describe('advanceFleet: held', () => {
  const open = seenOf([], { waitingClusters: 1 });

  it('gives nothing while it is frozen, paused, halted, going back or done', () => {
    const breach = { cause: 'ClustersFailed', atMs: 1, message: '', clusters: [] } as const;
    const held: readonly (readonly [string, Partial<StepInput>])[] = [
      ['frozen', { freeze: FREEZE }],
      ['paused', { record: fleetRecordOf({ orders: { paused: BY } }) }],
      ['breach', { record: fleetRecordOf({ breach }) }],
      ['returning', { record: fleetRecordOf({ orders: { undo: BY } }) }],
      ['done', { record: fleetRecordOf({ stage: 3 }) }],
    ];
    for (const [kind, input] of held) {
      const { record, giveMax, decision } = step({ open, ...input });
      assert.deepEqual([record.gate.kind, giveMax, decision], [kind, 0, undefined]);
    }
  });

  it('finds a breach while it is paused', () => {
    const record = fleetRecordOf({ orders: { paused: BY } });
    assert.equal(step({ record, open: seenOf([failedOf('a')]) }).decision?.kind, 'halted');
  });

  it('does not halt twice', () => {
    const halted = step({ open: seenOf([failedOf('a')]) });
    assert.equal(halted.decision?.kind, 'halted');
    const again = step({ record: halted.record, open: seenOf([failedOf('a')]) });
    assert.deepEqual([again.decision, again.record.breach], [undefined, halted.record.breach]);
  });

  it('remembers the content, and takes back that it was proven', () => {
    const good = [goodOf('new', 2), goodOf('old')];
    const record = fleetRecordOf({ stage: 2, good });
    const halted = step({ record, open: seenOf([failedOf('a'), failedOf('b'), failedOf('c')]) });
    assert.equal(halted.record.good[0]?.id, 'old');
    assert.deepEqual(
      halted.record.refused.map(({ contentHash }) => contentHash),
      ['new'],
    );
  });

  it('remembers the newest eight', () => {
    const refused = Array.from({ length: 8 }, (_, index) => ({
      contentHash: `bad-${String(index)}`,
      cause: 'ClustersFailed' as const,
      atMs: index,
    }));
    const halted = step({ record: fleetRecordOf({ refused }), open: seenOf([failedOf('a')]) });
    assert.deepEqual(halted.record.refused.length, 8);
    assert.equal(halted.record.refused[0]?.contentHash, 'new');
    assert.equal(halted.record.refused.at(-1)?.contentHash, 'bad-1');
  });
});

describe('advanceFleet: what one cluster may do to the others', () => {
  const ROLLBACK = { onHalt: 'rollback' } as const;
  const PLACE = [
    'Conflict',
    'Refused',
    'Reverted',
    'PolicyNotFollowed',
    'Unreachable',
    'Halted/Undone',
    'Halted/CreateRefused',
  ] as const;

  it('halts for a cluster that cannot take it, blames no release, and takes nobody back', () => {
    for (const cause of PLACE) {
      const good = [goodOf('new', 2), goodOf('old')];
      const record = fleetRecordOf({ stage: 2, good });
      const open = seenOf([givenOf('a', WELL), failedBy('b', cause)]);
      const { strategy } = fleetOf({ strategy: { stages: STAGES, ...ROLLBACK } });
      const halted = step({ record, open }, ROLLBACK);
      assert.deepEqual(
        [halted.decision?.kind, halted.record.breach?.cause, halted.record.breach?.grounds],
        ['halted', 'ClustersNotUpdated', 'place'],
        cause,
      );
      assert.deepEqual(halted.record.refused, [], cause);
      assert.equal(halted.record.good[0]?.id, 'new', cause);
      assert.equal(returnTargetIn(halted.record, strategy), false, cause);
      assert.match(halted.record.breach?.message ?? '', /no other cluster goes back/);
    }
  });

  it('forgives clusters that cannot take it by a bound of their own', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([failedBy('a', 'Refused'), givenOf('b', ROLLING)]);
    const kind = (strategy: JsonObject): string | undefined =>
      step({ record, open }, strategy).decision?.kind;
    assert.equal(kind({}), 'halted');
    assert.equal(kind({ maxRefusals: 1 }), undefined);
    assert.equal(kind({ maxFailures: 1 }), undefined, 'as maxFailures, where nothing is said');
    assert.equal(kind({ maxFailures: 1, maxRefusals: 0 }), 'halted');
    const bad = seenOf([failedOf('a'), givenOf('b', ROLLING)]);
    assert.equal(step({ record, open: bad }, { maxRefusals: 1 }).decision?.kind, 'halted');
  });

  it('takes nobody back on the word of one cluster among several, and says so', () => {
    const { strategy } = fleetOf({ strategy: { stages: STAGES, ...ROLLBACK } });
    const open = seenOf([givenOf('a', WELL), failedOf('b')]);
    const passed = new Map([[0, seenOf([givenOf('z', WELL)])]]);
    const record = fleetRecordOf({ stage: 1 });
    const { record: halted } = step({ record, open, passed }, ROLLBACK);
    assert.deepEqual(
      [halted.breach?.cause, halted.breach?.grounds],
      ['ClustersFailed', 'one-cluster'],
    );
    assert.match(halted.breach?.message ?? '', /only b shows it, so no other cluster goes back/);
    assert.equal(returnTargetIn(halted, strategy), false);
    assert.deepEqual(
      halted.refused.map(({ contentHash }) => contentHash),
      ['new'],
    );
    const alone = step({ record, open: seenOf([failedOf('b')]), passed }, ROLLBACK).record;
    assert.equal(
      returnTargetIn(alone, strategy),
      false,
      'the canary before it has the release, too',
    );
  });

  it('goes back for the only cluster that has the release', () => {
    const { strategy } = fleetOf({ strategy: { stages: STAGES, ...ROLLBACK } });
    const { record: first } = step({ open: seenOf([failedOf('a')]) }, ROLLBACK);
    assert.equal(returnTargetIn(first, strategy), true);
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([failedOf('a')]);
    assert.equal(step({ record, open }, ROLLBACK).needsPassed, true, 'who else has it');
    const passed = new Map([[0, seenOf([givenOf('a', WELL)])]]);
    assert.equal(returnTargetIn(step({ record, open, passed }, ROLLBACK).record, strategy), true);
  });

  it('goes back once a second cluster shows it, also after it was halted', () => {
    const { strategy } = fleetOf({ strategy: { stages: STAGES, ...ROLLBACK } });
    const record = fleetRecordOf({ stage: 1 });
    const passed = new Map([[0, seenOf([givenOf('z', WELL)])]]);
    const open = seenOf([failedOf('a'), givenOf('b', ROLLING)]);
    const halted = step({ record, open, passed }, ROLLBACK).record;
    const same = step({ record: halted, open }, ROLLBACK);
    assert.deepEqual([same.decision, same.record.breach], [undefined, halted.breach]);
    const both = seenOf([failedOf('a'), failedOf('b')]);
    const later = step({ record: halted, open: both, nowMs: NOW_MS + 60_000 }, ROLLBACK);
    assert.deepEqual(later.record.breach?.clusters, ['a', 'b']);
    assert.equal(later.decision?.kind, 'halted');
    assert.equal(returnTargetIn(later.record, strategy), true);
    const refusal = seenOf([failedOf('a'), failedBy('b', 'Refused')]);
    assert.equal(step({ record: halted, open: refusal }, ROLLBACK).decision, undefined);
  });

  it('lets evidence weigh more than a refusal, whichever came first', () => {
    const record = fleetRecordOf({ stage: 1 });
    const open = seenOf([failedBy('a', 'Refused'), failedOf('b'), failedOf('c')]);
    assert.equal(step({ record, open }, ROLLBACK).record.breach?.cause, 'ClustersFailed');
    const halted = step({ record, open: seenOf([failedBy('a', 'Refused')]) }, ROLLBACK).record;
    assert.equal(halted.breach?.cause, 'ClustersNotUpdated');
    const later = step({ record: halted, open, nowMs: NOW_MS + 60_000 }, ROLLBACK).record;
    assert.deepEqual(
      [later.breach?.cause, later.breach?.grounds, later.refused.length],
      ['ClustersFailed', undefined, 1],
    );
  });

  it('takes nobody back at a deadline that one cluster misses', () => {
    const strategy = { stages: STAGES, progressDeadline: '2h', ...ROLLBACK };
    const counts = { ...fleetRecordOf().counts, well: 1 };
    const record = fleetRecordOf({ stage: 1, progressedAtMs: NOW_MS - 7_200_000, counts });
    const passed = new Map([[0, seenOf([givenOf('z', WELL)])]]);
    const stuck = (...kinds: ClusterVerdict[]): FleetRecord['breach'] => {
      const given = kinds.map((kind, index) => givenOf(`c${String(index)}`, kind));
      return step({ record, open: seenOf(given), passed }, strategy).record.breach;
    };
    const grounds = (...kinds: ClusterVerdict[]): unknown => {
      const breach = stuck(...kinds);
      return [breach?.cause, breach?.grounds];
    };
    const cause = 'ProgressDeadlineExceeded';
    assert.deepEqual(grounds(WELL, ROLLING), [cause, 'one-cluster']);
    assert.deepEqual(grounds(ROLLING, ROLLING), [cause, undefined]);
    assert.deepEqual(grounds(WELL, { kind: 'unclear' }, { kind: 'awaited' }), [cause, 'place']);
  });
});

describe('advanceFleet: time', () => {
  const soaking = { stages: [{ name: 'canary', clusters: 1, soak: '1h' }, { name: 'rest' }] };

  it('counts a soak from when all are well, and anew when one is not', () => {
    const well = step({ open: seenOf([givenOf('a', WELL)]) }, soaking).record;
    assert.deepEqual([well.wellSinceMs, well.gate.kind], [NOW_MS, 'soaking']);
    const open = seenOf([givenOf('a', ROLLING)]);
    const broken = step({ record: well, open, nowMs: NOW_MS + 1 }, soaking).record;
    assert.equal(broken.wellSinceMs, undefined);
  });

  it('does not begin a soak anew for a cluster that could not be read once, and opens nothing by it', () => {
    const record = fleetRecordOf({ wellSinceMs: NOW_MS - 3_600_000 });
    const open = seenOf([givenOf('a', WELL), givenOf('b', { kind: 'unclear' }, { phase: 'well' })]);
    const held = step({ record, open }, soaking);
    assert.deepEqual([held.record.stage, held.record.wellSinceMs], [0, record.wellSinceMs]);
    const clear = seenOf([givenOf('a', WELL), givenOf('b', WELL)]);
    assert.equal(step({ record: held.record, open: clear }, soaking).record.stage, 1);
  });

  it('halts at the progress deadline, which nobody who waits for a person runs into', () => {
    const strategy = { stages: STAGES, progressDeadline: '2h' };
    const record = fleetRecordOf({ progressedAtMs: NOW_MS - 7_200_000 });
    const stuck = step({ record, open: seenOf([givenOf('a', ROLLING)]) }, strategy);
    assert.equal(stuck.record.breach?.cause, 'ProgressDeadlineExceeded');
    const paused = fleetRecordOf({ progressedAtMs: BEGAN_MS - 7_200_000, orders: { paused: BY } });
    const held = step({ record: paused, open: seenOf([givenOf('a', ROLLING)]) }, strategy);
    assert.deepEqual([held.record.breach, held.record.progressedAtMs], [undefined, NOW_MS]);
  });
});
