/** When to look again (spec 2.7, 2.12, last section; protocol 11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { computeDueAt, type DueTimeInput } from '../../../../src/core/plan/due-time.ts';
import type { IntentJudgement } from '../../../../src/core/model/plan.ts';
import type { BackoffEntry } from '../../../../src/core/model/state.ts';
import {
  NOW_MS,
  LIFE_MS,
  TIMEOUT_MS,
  createIntent,
  daemonSet,
  deleteIntent,
  failedPod,
  namedPod,
  node,
  pod,
  state,
  view,
} from '../../../support/core-fixtures.ts';

const nothingOpen: IntentJudgement = { unseen: [], unresolved: [], settled: [] };

/** Due time in milliseconds from now. */
function due(options: Partial<DueTimeInput>): number | undefined {
  const atMs = computeDueAt({
    view: view(),
    backoff: [],
    intents: nothingOpen,
    state: state(),
    requestTimeoutMs: TIMEOUT_MS,
    waitsUntilMs: [],
    ...options,
  });
  return atMs === undefined ? undefined : atMs - NOW_MS;
}

describe('computeDueAt', () => {
  it('is undefined when no time matters', () => assert.equal(due({}), undefined));

  it('never lies less than a second ahead (#77203)', () => {
    assert.equal(due({ waitsUntilMs: [NOW_MS - 5000] }), 1000);
  });

  it('is the earliest of all', () => {
    assert.equal(due({ waitsUntilMs: [NOW_MS + 9000, NOW_MS + 4000] }), 4000);
  });
});

describe('back-off (spec 2.7)', () => {
  const entry: BackoffEntry = {
    node: node('n1').name,
    generation: 0,
    delayMs: 8000,
    advancedAtMs: NOW_MS - 1000,
  };
  const failed = { nodes: [node('n1'), node('n2')], pods: [failedPod('n1')] };
  it('ends where a failed pod waits', () => {
    assert.equal(due({ view: view(failed), backoff: [entry] }), 7000);
  });
  it('does not matter without a failed pod, nor for another generation', () => {
    const healthy = { nodes: [node('n1')], pods: [pod('n1')] };
    assert.equal(due({ view: view(healthy), backoff: [entry] }), undefined);
    const leaving = { nodes: [node('n1')], pods: [failedPod('n1', { isTerminating: true })] };
    assert.equal(due({ view: view(leaving), backoff: [entry] }), undefined);
    assert.equal(due({ view: view(failed), backoff: [{ ...entry, generation: 1 }] }), undefined);
  });
});

describe('minReadySeconds (spec 2.12 and last section)', () => {
  const set = daemonSet({ spec: { minReadySeconds: 30 } });
  const readySince = (ms: number): { readonly readyChangedAtMs: number } => ({
    readyChangedAtMs: NOW_MS - ms,
  });
  const look = (...pods: readonly ReturnType<typeof pod>[]): number | undefined =>
    due({ view: view({ daemonSet: set, nodes: [node('n1')], pods }) });

  it('looks at all pods of a node, not only at the oldest', () => {
    const oldest = namedPod('n1', 'a', { createdAtMs: 1 });
    const newest = namedPod('n1', 'b', readySince(20_000));
    assert.equal(look(oldest, newest), 10_000);
  });
  it('waits for no pod that is available, not ready, undated or terminating', () => {
    assert.equal(look(pod('n1', readySince(30_000))), undefined);
    assert.equal(look(pod('n1', { isReady: false, ...readySince(1) })), undefined);
    assert.equal(look(pod('n1', { readyChangedAtMs: null })), undefined);
    assert.equal(look(pod('n1', { isTerminating: true, ...readySince(1) })), undefined);
  });
  it('tolerates a clock that is ahead of ours', () => {
    assert.equal(look(pod('n1', readySince(-600_000))), 630_000);
    assert.equal(look(pod('n1', readySince(29_999))), 1000);
  });
});

describe('open intents and retries (protocol 11)', () => {
  it('are due when their requests are dead', () => {
    const intents = { ...nothingOpen, unresolved: [createIntent('n1')] };
    assert.equal(due({ intents }), LIFE_MS);
  });
  it('give no moment once they are overdue: one that moves with each run would be a timer each (L5)', () => {
    const old = deleteIntent(pod('n1'), { recordedAtMs: NOW_MS - LIFE_MS });
    assert.equal(due({ intents: { ...nothingOpen, unseen: [old] } }), undefined);
    const young = deleteIntent(pod('n1'), { recordedAtMs: NOW_MS - LIFE_MS + 1 });
    assert.equal(due({ intents: { ...nothingOpen, unseen: [old, young] } }), 1000);
  });
  it('end the back-off of the whole key once', () => {
    const retry = { code: 'forbidden', delayMs: 5, notBeforeMs: NOW_MS + 5000, holdsCreates: true };
    assert.equal(due({ state: state({ retry }) }), 5000);
    assert.equal(due({ state: state({ retry: { ...retry, notBeforeMs: NOW_MS } }) }), undefined);
  });
});
