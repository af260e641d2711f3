/** Words and numbers of the views: the history of a DaemonSet, steps and evidence of a rollout, coverage by day, times. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PHASES } from '../../../src/core/rollout/gate-words.ts';
import { daysOf, percentText, rangeOf } from '../../../src/page/model/coverage-days.ts';
import type { NodeMap, RolloutStatus } from '../../../src/page/model/documents.ts';
import {
  cellsOfStage,
  evidenceTexts,
  isByNodes,
  stepsOf,
  toneOfPhase,
} from '../../../src/page/model/rollout-words.ts';
import { KEPT_MS, addSample, sampleOf } from '../../../src/page/model/set-history.ts';
import type { Sample } from '../../../src/page/model/set-history.ts';
import { clockText, momentText } from '../../../src/page/model/told-times.ts';
import { SMALL_MAP } from './small-map.ts';

type Staged = NonNullable<RolloutStatus['staged']>;

describe('the history of a DaemonSet', () => {
  it('counts nodes that should have a pod, have one, and have one that serves', () => {
    const us = { desired: 2, current: 2, ready: 1 };
    assert.deepEqual(sampleOf(SMALL_MAP, 'prod-us'), { atMs: 1_000, ...us });
    assert.equal(sampleOf(SMALL_MAP, 'prod-eu')?.desired, 2);
  });

  it('has a gap while the cluster is not known, and nothing of a cluster that is not there', () => {
    const gap = { desired: null, current: null, ready: null };
    assert.deepEqual(sampleOf(SMALL_MAP, 'test-ap'), { atMs: 1_000, ...gap });
    assert.equal(sampleOf(SMALL_MAP, 'other'), undefined);
  });

  it('counts a node without a pod as desired alone', () => {
    const [cluster] = SMALL_MAP.clusters;
    assert.ok(cluster);
    const lacking = { ...cluster, reason: [1, 0, 0], release: [-1, 0, 0], daemonSet: [0, 0, 0] };
    const map: NodeMap = { ...SMALL_MAP, clusters: [lacking] };
    assert.deepEqual(sampleOf(map, 'prod-eu'), { atMs: 1_000, desired: 3, current: 2, ready: 2 });
  });

  const added = (times: readonly number[]): readonly Sample[] =>
    times.reduce<readonly Sample[]>(
      (history, atMs) => addSample(history, { atMs, desired: 1, current: 1, ready: 1 }),
      [],
    );

  it('is of an hour, and takes no sample twice', () => {
    const times = Array.from({ length: 1_000 }, (_, place) => place * 10_000);
    const history = added(times);
    const [first] = history;
    assert.equal(first?.atMs, 999 * 10_000 - KEPT_MS);
    assert.equal(addSample(history, first), history);
  });

  it('has a gap where nothing was asked for a while, as in a tab that slept', () => {
    const readies = (times: readonly number[]): readonly (number | null)[] =>
      added(times).map(({ ready }) => ready);
    assert.deepEqual(readies([0, 4_000, 30 * 60_000]), [1, 1, null, 1]);
    assert.deepEqual(readies([0, 4_000, 24_000]), [1, 1, 1]);
  });
});

describe('a rollout on the page', () => {
  const staged = (step: object): Staged => ({ step }) as unknown as Staged;

  it('has a tone for every phase', () => {
    for (const phase of Object.values(PHASES)) assert.notEqual(toneOfPhase(phase), undefined);
    assert.equal(toneOfPhase('Stopped'), 'unknown');
  });

  it('shows its steps as passed, open and waiting', () => {
    const states = (step: object): readonly string[] =>
      stepsOf(staged(step)).map(({ name, state }) => `${name} ${state}`);
    assert.deepEqual(states({ kind: 'group', index: 1, name: 'half', groups: 2 }), [
      ...['canary passed', 'step 1 (half) open', 'step 2 waits'],
    ]);
    assert.deepEqual(states({ kind: 'waiting', index: 0, name: '', groups: 1 }), [
      ...['canary waits', 'step 1 waits'],
    ]);
    assert.deepEqual(states({ kind: 'done', index: 1, name: '', groups: 1 }), [
      ...['canary passed', 'step 1 passed'],
    ]);
  });

  it('counts a stage where its clusters are, and no nodes where it has none', () => {
    const counts = { clusters: 3, well: 2, rolling: 1, failed: 0, waiting: 0 };
    const stage = { ...counts, name: 'early', state: 'open', gates: [2, 3] } as const;
    const nodes = { updated: 8, desired: 9 };
    const none = { ...stage, clusters: 0, well: 0, rolling: 0 };
    assert.deepEqual(
      [cellsOfStage({ ...stage, nodes }), cellsOfStage(stage), cellsOfStage(none)],
      [
        ['3', '2', '1', '0', '0', '8 of 9'],
        ['3', '2', '1', '0', '0', 'not known'],
        ['0', '0', '0', '0', '0', '–'],
      ],
    );
    assert.equal(cellsOfStage({ ...none, goesOnIn: 'rest' }).join(''), 'in rest');
  });

  const sides = { updated: { bad: 2, good: 0 }, others: { bad: 0, good: 14 } };
  const evidence = { eValue: 24.61, haltsAt: 20, ...sides, outside: 0, failures: [] };

  it('says how strong the evidence of lost nodes is, in the words of the command', () => {
    const halted = { evidence, breach: { cause: 'NodesFailed' } } as unknown as Staged;
    assert.equal(isByNodes(halted), true);
    assert.deepEqual(evidenceTexts(halted), [
      'nodes lost: 2 of 2 updated, 0 of 14 others; E = 24.6, halts at 20',
    ]);
  });

  it('tells nothing of lost nodes where pods showed the cause themselves', () => {
    const breach = { cause: 'OOMKilled', message: 'pods of 1 updated node ran out of memory' };
    const halted = { evidence, breach } as unknown as Staged;
    assert.equal(isByNodes(halted), false);
    assert.match(evidenceTexts(halted).join(' '), /^OOMKilled: pods of 1.*No comparison/);
  });
});

describe('coverage by day', () => {
  const day = (name: string, minutes: readonly [number, number, number]) => ({
    day: name,
    coveredMinutes: minutes[0],
    uncoveredMinutes: minutes[1],
    unknownMinutes: minutes[2],
  });

  it('adds rows up, in the order of days, and counts what is not known for neither side', () => {
    const rows = [
      { days: [day('2026-11-02', [50, 50, 0]), day('2026-11-01', [90, 10, 100])] },
      { days: [day('2026-11-02', [100, 0, 0])] },
    ];
    assert.deepEqual(daysOf(rows), [
      { atMs: Date.UTC(2026, 10, 1), coveredPercent: 90, unknownPercent: 50 },
      { atMs: Date.UTC(2026, 10, 2), coveredPercent: 75, unknownPercent: 0 },
    ]);
  });

  it('has no share of a day of which nothing is known', () => {
    const [only] = daysOf([{ days: [day('2026-11-01', [0, 0, 1440])] }]);
    assert.equal(only?.coveredPercent, null);
    assert.equal(only.unknownPercent, 100);
    assert.deepEqual(rangeOf([only]), [98, 100]);
  });

  it('is never rounded up to all', () => {
    assert.equal(percentText(99.999), '99.99 %');
    assert.equal(percentText(100), '100 %');
    assert.equal(percentText(undefined), 'not known');
  });
});

describe('a time on the page', () => {
  const nowMs = Date.UTC(2026, 10, 28, 22, 40, 0);

  it('is in UTC, with its day where that is another', () => {
    assert.equal(clockText(Date.UTC(2026, 10, 28, 22, 31, 4), nowMs), '22:31:04Z');
    assert.equal(clockText(Date.UTC(2026, 10, 27, 22, 31, 4), nowMs), '2026-11-27 22:31:04Z');
  });

  it('has its age beside it, or how far away it is', () => {
    assert.equal(momentText(nowMs - 240_000, nowMs), '22:36:00Z, 4 min ago');
    assert.equal(momentText(nowMs + 600_000, nowMs), '22:50:00Z, in 10 min');
  });

  it('is not to come where the page counts its seconds a little later', () => {
    assert.equal(momentText(nowMs + 700, nowMs), '22:40:00Z, 0 s ago');
  });
});
