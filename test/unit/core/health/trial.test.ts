/** The trial of nodes with a control group (rollouts facts 4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  NODES_HALT_AT,
  NO_EVIDENCE,
  meanRatio,
  withDraw,
  FAILURES_MAX,
  OUTAGE_GAP_MS,
  OUTAGE_MS_MAX,
  TRIAL_NODES_MAX,
  advanceTrial,
  eValueOf,
  startTrial,
} from '../../../../src/core/health/trial.ts';
import type { TrialNode } from '../../../../src/core/health/trial.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { failOneByOne, nthNode, trialNodes, withBad } from '../../../support/evidence-fixtures.ts';

const MINUTE_MS = 60_000;

function firstNodes(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

describe('E of 164 nodes in one stratum agrees with the table of the facts, in which as many are at risk at each failure', () => {
  const table: readonly (readonly [number, readonly number[]])[] = [
    [3, [16.7, 433]],
    [16, [6.3, 46]],
    [30, [4, 17, 79]],
    [57, [2, 6, 15, 40]],
  ];
  const eAfter = (failures: number, updated: number): number => {
    const draw = { isUpdated: true, updatedAtRisk: updated, othersAtRisk: 164 - updated };
    return meanRatio(firstNodes(failures).reduce((ratios) => withDraw(ratios, draw), NO_EVIDENCE));
  };
  for (const [updated, expected] of table) {
    it(`${String(updated)} updated: ${expected.join(', ')}`, () => {
      for (const [at, wanted] of expected.entries()) {
        const value = eAfter(at + 1, updated);
        const lastDigit = Number.isInteger(wanted) ? 1 : 0.1; // the table cuts some and rounds others
        assert.ok(Math.abs(value - wanted) < lastDigit, `${String(value)}, not ${String(wanted)}`);
      }
    });
  }

  it('100 updated: the fifth 8.8', () => {
    assert.equal(eAfter(5, 100).toFixed(1), '8.8');
  });

  it('nodes that failed are at risk no more, so the next failure says more', () => {
    const stays = eValueOf(failOneByOne(trialNodes(164, 16), [0, 1]));
    assert.ok(stays > 46.5 && stays < 50, String(stays));
  });
});

describe('164 nodes (issue 17)', () => {
  const dead = [161, 162, 163];

  it('three that were dead before are outside: never a failure, and E stays 1', () => {
    const nodes = withBad(trialNodes(164, 3), dead);
    const trial = startTrial(nodes, NOW_MS);
    assert.deepEqual(trial.outside, dead.map(nthNode));
    const looked = advanceTrial(trial, nodes, NOW_MS + MINUTE_MS);
    assert.equal(looked, trial, 'nothing happened, so nothing is written');
    const recovered = advanceTrial(trial, trialNodes(164, 3), NOW_MS + 2 * MINUTE_MS);
    const again = advanceTrial(recovered, nodes, NOW_MS + 4 * MINUTE_MS);
    assert.deepEqual(again.failures, []);
    assert.equal(eValueOf(again), 1);
  });

  it('three of the first sixteen updated die: it halts', () => {
    const trial = failOneByOne(trialNodes(164, 16), [4, 9, 15]);
    assert.ok(eValueOf(trial) >= NODES_HALT_AT);
  });

  it('three that die with their zone, updated or not, do not halt', () => {
    const nodes = trialNodes(164, 16);
    const started = startTrial(nodes, NOW_MS);
    const outage = withBad(nodes, [1, 2, 60, 70, 80, 90]);
    const trial = advanceTrial(started, outage, NOW_MS + MINUTE_MS);
    assert.equal(trial.failures.filter(({ isCounted }) => isCounted).length, 1);
    assert.ok(eValueOf(trial) < NODES_HALT_AT);
  });
});

describe('a failure', () => {
  const nodes = trialNodes(20, 4);

  it('of a node counts once in a trial, however often the node flaps, and whichever side it is on by then', () => {
    const many = trialNodes(100, 3);
    const first = advanceTrial(
      startTrial(many, NOW_MS),
      withBad(many, [0]),
      NOW_MS + 2 * MINUTE_MS,
    );
    assert.ok(eValueOf(first) > 10 && eValueOf(first) < NODES_HALT_AT, String(eValueOf(first)));
    const good = advanceTrial(first, many, NOW_MS + 6 * MINUTE_MS);
    const again = advanceTrial(good, withBad(many, [0]), NOW_MS + 8 * MINUTE_MS);
    assert.equal(again, first, 'nothing new, so nothing is written');
    const other = advanceTrial(first, withBad(many, [50]), NOW_MS + 20 * MINUTE_MS);
    const updated = trialNodes(100, 60);
    assert.equal(advanceTrial(other, withBad(updated, [50]), NOW_MS + 40 * MINUTE_MS), other);
  });

  it('that follows another one of its stratum within a minute is of the same outage', () => {
    const started = startTrial(nodes, NOW_MS);
    const first = advanceTrial(started, withBad(nodes, [0]), NOW_MS);
    const within = advanceTrial(first, withBad(nodes, [0, 1]), NOW_MS + OUTAGE_GAP_MS - 1);
    assert.deepEqual(within.logRatios, first.logRatios);
    const goesOn = advanceTrial(within, withBad(nodes, [0, 1, 2]), NOW_MS + 2 * OUTAGE_GAP_MS - 2);
    assert.deepEqual(goesOn.logRatios, first.logRatios);
    const later = advanceTrial(first, withBad(nodes, [0, 1]), NOW_MS + OUTAGE_GAP_MS);
    assert.ok(eValueOf(later) > eValueOf(first));
  });

  it('is counted again while nodes go on dying for minutes, however fast', () => {
    const many = trialNodes(400, 100);
    let trial = startTrial(many, NOW_MS);
    for (let second = 0; second < 100; second += 1) {
      trial = advanceTrial(trial, withBad(many, firstNodes(second + 1)), NOW_MS + second * 6000);
    }
    const counted = trial.failures.filter(({ isCounted }) => isCounted).map(({ atMs }) => atMs);
    assert.deepEqual(counted, [NOW_MS, NOW_MS + OUTAGE_MS_MAX]);
    assert.equal(trial.failures.length, FAILURES_MAX);
  });

  it('of a node that is not updated speaks for the release', () => {
    const trial = failOneByOne(nodes, [10]);
    assert.ok(eValueOf(trial) < 1);
  });

  it('of a node that was made minutes before, by the API server’s clock, is none: it may be behind ours', () => {
    const made = (agoMs: number): TrialNode => ({
      name: nthNode(900),
      stratum: 'a/pool',
      isUpdated: true,
      isBad: true,
      createdAtMs: NOW_MS - agoMs,
    });
    const started = startTrial(nodes, NOW_MS);
    const look = (agoMs: number) =>
      advanceTrial(started, [...nodes, made(agoMs)], NOW_MS + MINUTE_MS);
    assert.equal(look(5 * MINUTE_MS - 1), started);
    assert.notEqual(look(5 * MINUTE_MS), started);
  });

  it('where no control is left adds nothing, and says so', () => {
    const alone = trialNodes(5, 5);
    const trial = failOneByOne(alone, [0, 1]);
    assert.equal(eValueOf(trial), 1);
    assert.equal(trial.isWithoutControls, true);
    assert.equal(failOneByOne(nodes, [0]).isWithoutControls, false);
  });
});

describe('bounds', () => {
  it('keeps the newest failures', () => {
    const nodes = trialNodes(200, 100);
    const failing = firstNodes(FAILURES_MAX + 8);
    const trial = failOneByOne(nodes, failing);
    assert.equal(trial.failures.length, FAILURES_MAX);
    assert.equal(trial.failures.at(-1)?.node, nthNode(FAILURES_MAX + 7));
    assert.equal(trial.failed.length, FAILURES_MAX + 8);
  });

  it('is void, keeps what it had found and remembers no more when too many nodes failed', () => {
    const nodes = trialNodes(TRIAL_NODES_MAX + 10, 3);
    const before = advanceTrial(startTrial(nodes, NOW_MS), withBad(nodes, [0]), NOW_MS);
    const all = nodes.map((node) => ({ ...node, isBad: true }));
    const trial = advanceTrial(before, all, NOW_MS + MINUTE_MS);
    assert.equal(trial.isVoid, true);
    assert.equal(eValueOf(trial), eValueOf(before));
    assert.equal(advanceTrial(trial, nodes, NOW_MS + MINUTE_MS), trial);
    const started = startTrial(all, NOW_MS);
    assert.equal(started.outside.length, TRIAL_NODES_MAX);
    assert.equal(started.isVoid, true);
  });
});
