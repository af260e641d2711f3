// What the open stage waits for: the gravest first, and nothing opens without evidence.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import {
  gateAfter,
  gateBefore,
  judgeStage,
} from '../../../../../src/core/fleet/rollout/judge-stage.ts';
import type { StageJudgement } from '../../../../../src/core/fleet/rollout/judge-stage.ts';
import { tallyStage } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import type { ObservedStage } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { fleetOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import {
  failedOf,
  fleetRecordOf,
  givenOf,
  ROLLING,
  seenOf,
  WELL,
} from '../../../../support/fleet-records.ts';

const BY = { by: 'ann', atMs: NOW_MS };
const HALTED = { cause: 'ClustersFailed', atMs: 1, message: '', clusters: [] } as const;
// NOW_MS is a Wednesday, at midnight.
const SHUT = [{ days: ['Thu'], from: '10:00', to: '12:00', timeZone: 'UTC' }];

interface Of {
  readonly record?: Partial<FleetRecord>;
  readonly seen?: ObservedStage;
  readonly stages?: readonly JsonObject[];
  readonly strategy?: JsonObject;
}

function judge({ record = {}, seen, stages, strategy = {} }: Of): StageJudgement {
  const written = stages ?? [
    { name: 'canary', clusters: 1, soak: '0s' },
    { name: 'early', clusters: 4, soak: '0s' },
    { name: 'rest', soak: '0s' },
  ];
  return judgeStage({
    record: fleetRecordOf(record),
    strategy: fleetOf({ strategy: { stages: written, ...strategy } }).strategy,
    ...(seen === undefined ? {} : { tally: tallyStage(seen, 0) }),
    nowMs: NOW_MS,
  });
}

const well = seenOf([givenOf('a', WELL)]);

describe('judgeStage: its clusters', () => {
  it('holds where none shows evidence: silent, failed within the budget, untouched', () => {
    const seens = [
      seenOf([givenOf('a', { kind: 'offline' })]),
      seenOf([failedOf('a')]),
      seenOf([givenOf('a', { kind: 'untouched' })]),
    ];
    for (const seen of seens) {
      for (const stage of [0, 1]) {
        const { gate, isOver } = judge({ record: { stage }, seen });
        assert.deepEqual([gate.kind, isOver], ['no-evidence', false]);
      }
    }
  });

  it('holds the first stage where all are at zero, and lets a later one pass', () => {
    const seen = seenOf([givenOf('a', { kind: 'empty' })]);
    assert.equal(judge({ seen }).gate.kind, 'no-evidence');
    assert.equal(judge({ record: { stage: 1 }, seen }).isOver, true);
  });

  it('holds a stage that names nobody, whichever it is (Reddit 2023-03-14)', () => {
    const [first, second, third] = fleetRecordOf().stages;
    assert.ok(first && second && third);
    const stages = [first, { ...second, namesNobody: true }, third];
    assert.equal(
      judge({ record: { stage: 1, stages }, seen: seenOf([]) }).gate.kind,
      'no-evidence',
    );
  });

  it('passes without evidence when a person agrees to that very gate, or to a later one', () => {
    const seen = seenOf([givenOf('a', { kind: 'offline' })]);
    const agreed = (gate: number): boolean =>
      judge({ record: { orders: { approved: { ...BY, stepIndex: gate } } }, seen }).isOver;
    assert.deepEqual([0, 1, 2].map(agreed), [false, true, true]);
  });

  it('never opens the first stage where nobody is in it', () => {
    const [first, ...others] = fleetRecordOf().stages;
    assert.ok(first);
    const stages = [{ ...first, members: { id: '', count: 0 } }, ...others];
    assert.equal(judge({ record: { stage: -1, stages } }).gate.kind, 'no-evidence');
    const orders = { approved: { ...BY, stepIndex: 0 } };
    assert.equal(judge({ record: { stage: -1, stages, orders } }).isOver, true);
  });
});

describe('judgeStage: time and people', () => {
  it('asks after a stage, and before one, by different gates', () => {
    const after = [{ name: 'a', clusters: 1, soak: '0s', approval: 'after' }, { name: 'b' }];
    assert.deepEqual(judge({ stages: after, seen: well }).gate, {
      kind: 'approval',
      stepIndex: gateAfter(0),
    });
    const before = [
      { name: 'a', clusters: 1, soak: '0s' },
      { name: 'b', approval: 'before' },
    ];
    assert.deepEqual(judge({ stages: before, seen: well }).gate, {
      kind: 'approval',
      stepIndex: gateBefore(1),
    });
    const approved = { ...BY, stepIndex: gateAfter(0) };
    assert.equal(
      judge({ stages: after, seen: well, record: { orders: { approved } } }).isOver,
      true,
    );
    assert.equal(
      judge({ stages: before, seen: well, record: { orders: { approved } } }).isOver,
      false,
    );
  });

  it('opens no stage, and gives nothing, outside of its windows', () => {
    const shut = [
      { name: 'a', clusters: 1, soak: '0s' },
      { name: 'b', window: SHUT },
    ];
    const { gate, isOver } = judge({ stages: shut, seen: well });
    assert.deepEqual([gate.kind, isOver], ['window', false]);
    const inside = [{ name: 'a', clusters: 1, window: SHUT }, { name: 'b' }];
    const waiting = judge({ stages: inside, seen: seenOf([], { waitingClusters: 1 }) });
    assert.deepEqual([waiting.gate.kind, waiting.mayGive], ['window', false]);
  });

  it('tells of clusters that roll in spite of a window that is shut, which hold no window', () => {
    const inside = [{ name: 'a', clusters: 2, window: SHUT }, { name: 'b' }];
    const seen = seenOf([givenOf('a', ROLLING)], { waitingClusters: 1 });
    const { gate, mayGive, isSettled } = judge({ stages: inside, seen });
    assert.deepEqual(gate, { kind: 'updating' });
    assert.deepEqual([mayGive, isSettled], [false, false]);
  });

  it('keeps the order of its reasons', () => {
    const freeze = { by: 'ann', why: 'x', atMs: 1 };
    const record = fleetRecordOf({ breach: HALTED, orders: { paused: BY, undo: BY }, stage: 9 });
    const { strategy } = fleetOf({});
    const kinds: string[] = [];
    const kindOf = (changes: Partial<FleetRecord>, by?: typeof freeze): void => {
      const { gate } = judgeStage({
        record: { ...record, ...changes },
        strategy,
        nowMs: NOW_MS,
        ...(by === undefined ? {} : { freeze: by }),
      });
      kinds.push(gate.kind);
    };
    kindOf({}, freeze);
    kindOf({});
    kindOf({ orders: { paused: BY } });
    const { breach: _none, ...whole } = record;
    kinds.push(
      judgeStage({ record: { ...whole, orders: { paused: BY } }, strategy, nowMs: NOW_MS }).gate
        .kind,
      judgeStage({ record: { ...whole, orders: {} }, strategy, nowMs: NOW_MS }).gate.kind,
    );
    assert.deepEqual(kinds, ['frozen', 'returning', 'breach', 'paused', 'done']);
  });
});
