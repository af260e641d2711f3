/**
 * A rollout halts when the API server answers our own requests far slower than before it began, and for nothing less (ADR 0055).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  KINDS_MAX,
  SAMPLES_MAX,
  addAnswers,
  answersBefore,
  findSlowAnswers,
  judgeAnswers,
  noteAnswers,
} from '../../../../src/core/health/answer-times.ts';
import type { AnswerSample } from '../../../../src/core/model/rollout-record.ts';
import type { AnswerTiming } from '../../../../src/core/model/projections.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { record } from '../../../support/stage-records.ts';

const QUARTER_MS = 15_000;
/** The first quarter of a minute in which the new revision ran. */
const SINCE_MS = Math.floor(NOW_MS / QUARTER_MS) * QUARTER_MS - 20 * QUARTER_MS;

/** One sample in each quarter of a minute, the first in that one. */
function quarters(firstMs: number, tookMs: readonly number[]): AnswerSample[] {
  return tookMs.map((took, index) => [firstMs + index * QUARTER_MS, took]);
}

const before = (...tookMs: readonly number[]): AnswerSample[] =>
  quarters(SINCE_MS - tookMs.length * QUARTER_MS, tookMs);
const since = (...tookMs: readonly number[]): AnswerSample[] => quarters(SINCE_MS, tookMs);
const same = (count: number, tookMs: number): number[] => new Array<number>(count).fill(tookMs);

function find(samples: readonly AnswerSample[], nowMs = NOW_MS) {
  return findSlowAnswers({ 'get pods': samples }, { sinceMs: SINCE_MS, nowMs });
}

describe('an API server', () => {
  it('of which less is known on a side is none', () => {
    assert.equal(find([...before(...same(5, 20)), ...since(...same(12, 9000))]), undefined);
    assert.equal(find([...before(...same(12, 20)), ...since(...same(5, 9000))]), undefined);
  });

  it('that was slow before, or is far away, is none', () => {
    assert.equal(find([...before(...same(8, 900)), ...since(...same(8, 1300))]), undefined);
    assert.equal(find([...before(...same(8, 400)), ...since(...same(8, 1600))]), undefined);
  });

  it('that takes many times as long, and not half a second more, is none', () => {
    assert.equal(find([...before(...same(8, 5)), ...since(...same(8, 505))]), undefined);
    assert.notEqual(find([...before(...same(8, 5)), ...since(...same(8, 506))]), undefined);
  });

  it('that was slow now and then before, as it is now, is none', () => {
    const now = since(...same(8, 3000));
    assert.equal(find([...before(...same(6, 20), 3000, 3000), ...now]), undefined);
    assert.notEqual(find([...before(...same(9, 20), 3000), ...now]), undefined, 'one outlier');
  });

  it('of which one answer in three came in time is none', () => {
    assert.equal(find([...before(...same(8, 20)), ...since(...same(5, 3000), 20, 20)]), undefined);
    assert.notEqual(
      find([...before(...same(8, 20)), ...since(...same(6, 3000), 20, 20)]),
      undefined,
    );
  });

  it('that was slow ten minutes ago is none', () => {
    const samples = [...before(...same(8, 20)), ...since(...same(6, 3000))];
    assert.notEqual(find(samples, SINCE_MS + 600_000), undefined);
    assert.equal(find(samples, SINCE_MS + 600_001), undefined);
  });

  it('is told by the kind of request that takes longest', () => {
    const fast = [...before(...same(8, 20)), ...since(...same(8, 25))];
    const slow = [...before(...same(8, 20)), ...since(...same(8, 700))];
    const slower = [...before(...same(8, 20)), ...since(...same(8, 800))];
    const at = { sinceMs: SINCE_MS, nowMs: NOW_MS };
    const kinds = { 'get pods': fast, 'create pods': slow, 'delete pods': slower };
    assert.equal(findSlowAnswers(kinds, at)?.kind, 'delete pods');
    assert.equal(findSlowAnswers({ 'get pods': fast }, at), undefined);
  });
});

const timing = (atMs: number, tookMs: number, kind = 'get pods'): AnswerTiming => ({
  kind,
  atMs,
  tookMs,
});

describe('measurements', () => {
  it('are one sample a quarter of a minute: what the middle one took', () => {
    const samples = addAnswers(
      {},
      [
        timing(SINCE_MS + 14_999, 10.4),
        timing(SINCE_MS, 9000),
        timing(SINCE_MS + 7, 8),
        timing(SINCE_MS + 15_000, 7),
      ],
      undefined,
    );
    assert.deepEqual(samples, {
      'get pods': [
        [SINCE_MS, 10],
        [SINCE_MS + QUARTER_MS, 7],
      ],
    });
  });

  it('that are known change nothing', () => {
    const known = { 'get pods': since(10, 11) };
    assert.equal(addAnswers(known, [timing(SINCE_MS + QUARTER_MS + 1, 99)], undefined), known);
  });

  it('are bounded: the newest of either side, and the first kinds', () => {
    const known = { 'get pods': [...before(...same(12, 1)), ...since(...same(12, 2))] };
    const next = addAnswers(known, [timing(SINCE_MS + 12 * QUARTER_MS, 3)], SINCE_MS);
    const samples = next['get pods'] ?? [];
    assert.equal(samples.length, 2 * SAMPLES_MAX);
    assert.deepEqual(samples[0], [SINCE_MS - 12 * QUARTER_MS, 1], 'what was before is kept');
    assert.deepEqual(samples.at(-1), [SINCE_MS + 12 * QUARTER_MS, 3]);
    const kinds = Array.from({ length: 20 }, (_, index) => timing(NOW_MS, 1, `get kind${index}`));
    assert.equal(Object.keys(addAnswers({}, kinds, undefined)).length, KINDS_MAX);
    const begun = answersBefore(next)['get pods'] ?? [];
    assert.deepEqual(begun, samples.slice(-SAMPLES_MAX), 'of a rollout that begins');
  });

  it('are compared with what was before the order that overruled them', () => {
    const answers = { 'get pods': [...before(...same(8, 20)), ...since(...same(8, 900))] };
    const breach = { cause: 'ApiServerSlow', atMs: NOW_MS, message: '', nodes: [] } as const;
    const halted = record({ triedAtMs: SINCE_MS, answers });
    assert.equal(judgeAnswers(halted, NOW_MS)?.sinceMs, 900);
    const atMs = SINCE_MS + 8 * QUARTER_MS;
    let resumed = { ...halted, orders: { resumed: { by: 'me', atMs, breach } } };
    assert.equal(judgeAnswers(resumed, NOW_MS), undefined);
    for (let quarter = 0; quarter < 20; quarter += 1) {
      const now = [timing(atMs + quarter * QUARTER_MS, 950)];
      resumed = { ...resumed, ...noteAnswers(resumed, now), orders: resumed.orders };
    }
    assert.equal(judgeAnswers(resumed, atMs + 20 * QUARTER_MS), undefined, 'as slow as it was');
    const other = { ...breach, cause: 'OOMKilled' } as const;
    const elsewhere = { ...halted, orders: { resumed: { by: 'me', atMs, breach: other } } };
    assert.notEqual(judgeAnswers(elsewhere, NOW_MS), undefined);
  });

  it('say nothing before the first step', () => {
    const answers = { 'get pods': [...before(...same(8, 20)), ...since(...same(8, 900))] };
    assert.equal(judgeAnswers(record({ answers }), NOW_MS), undefined);
    const known = record({ answers });
    assert.equal(noteAnswers(known, []), known);
  });
});
