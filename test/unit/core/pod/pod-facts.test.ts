/** Facts about one pod (spec 2.4, 2.7, 2.9). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  availableAtMs,
  comparePods,
  isAvailable,
  isHeld,
  isTerminal,
  isUpdated,
  minReadyMsOf,
  revisionHashOfPod,
  templateGenerationOf,
} from '../../../../src/core/pod/pod-facts.ts';
import { CURRENT_HASH, NOW_MS, daemonSet, namedPod, pod } from '../../../support/core-fixtures.ts';

describe('isTerminal and isHeld (spec 2.4)', () => {
  it('holds for finished pods; held ones are terminating as well', () => {
    assert.equal(isTerminal(pod('n', { phase: 'Running', isTerminating: true })), false);
    assert.equal(isHeld(pod('n', { phase: 'Running', isTerminating: true })), false);
    for (const phase of ['Failed', 'Succeeded'] as const) {
      assert.equal(isTerminal(pod('n', { phase })), true);
      assert.equal(isHeld(pod('n', { phase })), false);
      assert.equal(isHeld(pod('n', { phase, isTerminating: true })), true);
    }
  });
});

describe('isAvailable (spec 2.9)', () => {
  const at = { minReadyMs: 10_000, nowMs: NOW_MS };
  it('is Ready alone when minReadySeconds is 0', () => {
    const zero = { minReadyMs: 0, nowMs: NOW_MS };
    assert.equal(isAvailable(pod('n', { readyChangedAtMs: null }), zero), true);
    assert.equal(isAvailable(pod('n', { isReady: false }), zero), false);
  });
  it('takes at least minReadySeconds, the very moment included', () => {
    assert.equal(isAvailable(pod('n', { readyChangedAtMs: NOW_MS - 10_000 }), at), true);
    assert.equal(isAvailable(pod('n', { readyChangedAtMs: NOW_MS - 9_999 }), at), false);
  });
  it('is never reached by a pod that does not say since when it is ready', () => {
    assert.equal(isAvailable(pod('n', { readyChangedAtMs: null }), at), false);
    assert.equal(availableAtMs(pod('n', { isReady: false }), 0), undefined);
  });
  it('reads minReadySeconds as milliseconds, never below zero', () => {
    assert.equal(minReadyMsOf(daemonSet({ spec: { minReadySeconds: 3 } })), 3000);
    assert.equal(minReadyMsOf(daemonSet({ spec: { minReadySeconds: -3 } })), 0);
    assert.equal(minReadyMsOf(daemonSet()), 0);
  });
});

describe('isUpdated (spec 2.9)', () => {
  const none = { hash: undefined, templateGeneration: undefined };
  it('goes by hash', () => {
    assert.equal(isUpdated(pod('n'), { ...none, hash: CURRENT_HASH }), true);
    assert.equal(isUpdated(pod('n'), { ...none, hash: 'other' }), false);
    assert.equal(isUpdated(pod('n', { labels: {} }), none), false);
  });
  it('or by template generation', () => {
    const labels = { 'pod-template-generation': '4' };
    assert.equal(isUpdated(pod('n', { labels }), { hash: 'x', templateGeneration: '4' }), true);
    assert.equal(isUpdated(pod('n', { labels }), { hash: 'x', templateGeneration: '5' }), false);
  });
  it('takes an empty hash label as none', () => {
    const labels = { 'controller-revision-hash': '' };
    assert.equal(revisionHashOfPod(pod('n', { labels })), undefined);
    assert.equal(isUpdated(pod('n', { labels }), { ...none, hash: '' }), false);
  });
});

describe('templateGenerationOf (spec 2.8)', () => {
  const rows: readonly [string | undefined, string | undefined][] = [
    ['4', '4'],
    ['+4', '4'],
    ['four', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [text, expected] of rows) {
    it(`reads ${text} as ${expected}`, () => {
      const key = 'deprecated.daemonset.template.generation';
      const annotations = text === undefined ? {} : { [key]: text };
      assert.equal(templateGenerationOf(daemonSet({ metadata: { annotations } })), expected);
    });
  }
  it('is absent without annotations', () => {
    assert.equal(templateGenerationOf(daemonSet()), undefined);
  });
});

describe('comparePods (spec 2.7)', () => {
  it('prefers bound, then older, then the name', () => {
    const unbound = namedPod('n', 'a', { boundNode: null, createdAtMs: 1 });
    const older = namedPod('n', 'z', { createdAtMs: 10 });
    const younger = namedPod('n', 'b', { createdAtMs: 20 });
    const twin = namedPod('n', 'c', { createdAtMs: 20 });
    const sorted = [twin, unbound, younger, older].sort(comparePods);
    assert.deepEqual(sorted, [older, younger, twin, unbound]);
    assert.equal(comparePods(older, older), 0);
    assert.ok(comparePods(unbound, older) > 0);
    assert.ok(comparePods(older, unbound) < 0);
  });
});
