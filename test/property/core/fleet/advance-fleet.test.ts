// Steps of a fleet over any history of clusters: what may never happen, however they fare.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { advanceFleet, type FleetStep } from '../../../../src/core/fleet/rollout/advance-fleet.ts';
import { wayBackOf } from '../../../../src/core/fleet/rollout/way-back.ts';
import { beginRollout } from '../../../../src/core/fleet/rollout/begin-rollout.ts';
import type { FleetOrders, FleetRecord } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import { noteVerdict } from '../../../../src/core/fleet/rollout/note-verdict.ts';
import { tallyStage, type ObservedStage } from '../../../../src/core/fleet/rollout/tally-stage.ts';
import type { ClusterVerdict } from '../../../../src/core/fleet/rollout/judge-cluster.ts';
import { fleetRecordOf, givenOf, releaseOf, seenOf } from '../../../support/fleet-records.ts';
import { fleetOf, NOW_MS } from '../../../support/fleet-samples.ts';

const STRATEGY = fleetOf({
  strategy: {
    soak: '5m',
    maxFailures: 1,
    maxConcurrency: 3,
    stages: [{ name: 'canary', clusters: 1 }, { name: 'early', clusters: 4 }, { name: 'rest' }],
  },
}).strategy;

const nodes = { updated: 2, desired: 2 };
const verdict: fc.Arbitrary<ClusterVerdict> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<ClusterVerdict>({ kind: 'well', nodes }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<ClusterVerdict>(
      { kind: 'rolling', nodes },
      { kind: 'offline' },
      { kind: 'awaited' },
      { kind: 'unclear' },
      { kind: 'empty' },
      { kind: 'untouched' },
      { kind: 'failed', failure: { cause: 'Halted/Restarts', message: '', nodes: [] } },
    ),
  },
);
/** A look: how each of eight clusters fares, what is ordered, and how long after the one before. */
const look = fc.record({
  verdicts: fc.array(verdict, { minLength: 8, maxLength: 8 }),
  waiting: fc.integer({ min: 0, max: 3 }),
  order: fc.constantFrom('none', 'none', 'none', 'pause', 'unpause', 'approve', 'freeze'),
  passMs: fc.constantFrom(15_000, 60_000, 400_000),
});
type Look = typeof look extends fc.Arbitrary<infer T> ? T : never;

interface Walked {
  readonly before: FleetRecord;
  readonly step: FleetStep;
  readonly open?: ObservedStage;
  readonly passed: ReadonlyMap<number, ObservedStage>;
  readonly isFrozen: boolean;
  readonly nowMs: number;
}

function ordersAfter({ orders }: FleetRecord, order: Look['order'], atMs: number): FleetOrders {
  const { paused: _paused, ...rest } = orders;
  if (order === 'pause') return { ...orders, paused: { by: 'ann', atMs } };
  if (order === 'unpause') return rest;
  if (order === 'approve') return { ...orders, approved: { by: 'ann', atMs, stepIndex: 9 } };
  return orders;
}

/** Walks a fleet of eight clusters, two in each of the first stages, through the looks. */
function walk(looks: readonly Look[]): readonly Walked[] {
  const stages = fleetRecordOf().stages;
  let record: FleetRecord = fleetRecordOf({ stage: -1, gate: { kind: 'next' } });
  let clusters = Array.from({ length: 8 }, (_, index) =>
    givenOf(`c${String(index)}`, { kind: 'awaited' }, { place: Math.min(2, index >> 1) }),
  );
  let nowMs = NOW_MS;
  const walked: Walked[] = [];
  for (const { verdicts, waiting, order, passMs } of looks) {
    nowMs += passMs;
    const orders = ordersAfter(record, order, nowMs);
    const before = { ...record, orders };
    clusters = clusters.map((one, index) => {
      const next = verdicts[index] ?? one.verdict;
      return { ...one, verdict: next, record: noteVerdict(one.record, next, nowMs).record };
    });
    const seenAt = (stage: number): ObservedStage =>
      seenOf(
        clusters.filter(({ record: { place } }) => place === stage),
        {
          waitingClusters: stage === before.stage ? waiting : 0,
        },
      );
    const isFrozen = order === 'freeze';
    const open =
      before.stage < 0 || before.stage >= stages.length ? undefined : seenAt(before.stage);
    const passed = new Map(
      stages.flatMap((_, stage) => (stage < before.stage ? [[stage, seenAt(stage)] as const] : [])),
    );
    const input = {
      record: before,
      strategy: STRATEGY,
      nowMs,
      ...(isFrozen ? { freeze: { by: 'ann', why: '', atMs: nowMs } } : {}),
      ...(open === undefined ? {} : { open }),
    };
    const first = advanceFleet(input);
    const step = first.needsPassed ? advanceFleet({ ...input, passed }) : first;
    assert.equal(step.needsPassed, false);
    walked.push({ before, step, passed, isFrozen, nowMs, ...(open === undefined ? {} : { open }) });
    record = step.record;
  }
  return walked;
}

const looks = fc.array(look, { minLength: 1, maxLength: 60 });

describe('advanceFleet, over any history', () => {
  it('opens one stage at a time, in their order, and never goes back', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step } of walk(all)) {
          const opened = step.record.stage - before.stage;
          assert.ok(opened === 0 || opened === 1);
          assert.equal(
            opened === 1,
            step.decision !== undefined && step.decision.kind !== 'halted',
          );
        }
      }),
    );
  });

  it('opens nothing and gives nothing while it is frozen, paused or halted', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step, isFrozen } of walk(all)) {
          const { breach, orders } = before;
          if (!isFrozen && orders.paused === undefined && breach === undefined) continue;
          assert.deepEqual([step.giveMax, step.record.stage], [0, before.stage]);
        }
      }),
    );
  });

  it('stays halted, with the same breach, whatever is seen later', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step } of walk(all)) {
          if (before.breach === undefined) continue;
          assert.deepEqual([step.record.breach, step.decision], [before.breach, undefined]);
        }
      }),
    );
  });

  it('opens no stage after another without one cluster that is seen to run it now, or a person', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step, open, passed } of walk(all)) {
          if (step.record.stage === before.stage || before.stage < 0) continue;
          const seen = [...(open === undefined ? [] : [open]), ...passed.values()];
          const proven = seen.some((stage) => tallyStage(stage, 0).provenClusters > 0);
          assert.ok(proven || before.orders.approved !== undefined);
        }
      }),
    );
  });

  it('opens no stage while one of its clusters is on its way, or waits', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step, open } of walk(all)) {
          if (open === undefined || step.record.stage === before.stage) continue;
          const { waiting, rolling } = tallyStage(open, 0).counts;
          assert.deepEqual([waiting, rolling], [0, 0]);
        }
      }),
    );
  });

  it('opens no stage with more failed clusters than the budget forgives', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step, open, passed } of walk(all)) {
          if (step.record.stage === before.stage) continue;
          for (const stage of [...(open === undefined ? [] : [open]), ...passed.values()]) {
            assert.ok(tallyStage(stage, 0).failed.length <= 1);
          }
        }
      }),
    );
  });

  it('lets each stage soak whole', () => {
    fc.assert(
      fc.property(looks, (all) => {
        let wellSinceMs: number | undefined;
        for (const { before, step, open, isFrozen, nowMs } of walk(all)) {
          const { counts, provenClusters } = tallyStage(open ?? seenOf([]), 0);
          const isUnderWay = open === undefined || counts.waiting + counts.rolling > 0;
          const opened = step.record.stage > before.stage;
          if (opened && provenClusters > 0) assert.ok(nowMs - (wellSinceMs ?? nowMs) >= 300_000);
          const goesOn = !isUnderWay && !isFrozen && !opened;
          wellSinceMs = goesOn ? (wellSinceMs ?? nowMs) : undefined;
        }
      }),
    );
  });

  it('never rolls more clusters at once than it may', () => {
    fc.assert(
      fc.property(looks, (all) => {
        for (const { before, step, open } of walk(all)) {
          if (open === undefined || step.giveMax === 0) continue;
          assert.equal(step.record.stage, before.stage);
          assert.ok(tallyStage(open, 0).counts.rolling + step.giveMax <= 3);
        }
      }),
    );
  });

  it('begins the next release with what was proven, and holds what was halted', () => {
    fc.assert(
      fc.property(looks, fc.constantFrom('new', 'other'), (all, contentHash) => {
        const { record } = walk(all).at(-1)?.step ?? assert.fail();
        const release = releaseOf(contentHash, 7);
        const next = beginRollout({
          fleet: record,
          uid: record.uid,
          release,
          former: record,
          nowMs: 1,
        });
        assert.equal(next.stage, -1);
        const ids = [next, record].map(({ good }) => good.map(({ id }) => id));
        assert.deepEqual(ids[0], ids[1]);
        if (contentHash === 'new') assert.deepEqual(next.breach, record.breach);
        else assert.equal(wayBackOf(next)?.id, record.good[0]?.id);
        assert.equal(next.orders.approved, undefined);
      }),
    );
  });
});
