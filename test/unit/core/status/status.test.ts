/** Status counters (spec 2.12, S7). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import { rivalNotice, withPauseNotice } from '../../../../src/core/status/pause-notice.ts';
import {
  computeStatus,
  hasSameStatus,
  isSameBasis,
  withCounts,
} from '../../../../src/core/status/status.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  daemonSet,
  failedPod,
  namedPod,
  node,
  pod,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

const acting = { currentHash: CURRENT_HASH, observeGeneration: true };

function counters(options: ViewOptions): readonly (number | undefined)[] {
  const status = computeStatus(view(options), acting);
  return [
    status.desiredNumberScheduled,
    status.currentNumberScheduled,
    status.numberReady,
    status.updatedNumberScheduled,
    status.numberAvailable,
    status.numberUnavailable,
    status.numberMisscheduled,
  ];
}

const keeping = node('k', { taints: [{ key: 'k', effect: 'NoSchedule' }] });
const old = { labels: { app: 'agent', 'controller-revision-hash': 'old' } };

describe('counters (spec 2.12): desired, current, ready, updated, available, unavailable, misscheduled', () => {
  const rows: readonly [string, ViewOptions, readonly number[]][] = [
    ['nothing', {}, [0, 0, 0, 0, 0, 0, 0]],
    ['a node without a pod', { nodes: [node('a')] }, [1, 0, 0, 0, 0, 1, 0]],
    ['a healthy node', { nodes: [node('a')], pods: [pod('a')] }, [1, 1, 1, 1, 1, 0, 0]],
    [
      'a pod that is not ready',
      { nodes: [node('a')], pods: [pod('a', { isReady: false })] },
      [1, 1, 0, 1, 0, 1, 0],
    ],
    [
      'a pod of an old revision',
      { nodes: [node('a')], pods: [pod('a', old)] },
      [1, 1, 1, 0, 1, 0, 0],
    ],
    [
      'two pods: the first in sort order counts alone',
      {
        nodes: [node('a')],
        pods: [
          namedPod('a', 'older', { createdAtMs: 1, isReady: false, ...old }),
          namedPod('a', 'newer', { createdAtMs: 2 }),
        ],
      },
      [1, 1, 0, 0, 0, 1, 0],
    ],
    [
      'a surging node is not updated until the old pod is really gone',
      {
        nodes: [node('a')],
        pods: [
          namedPod('a', 'newer', { createdAtMs: 2 }),
          namedPod('a', 'older', { createdAtMs: 1, isTerminating: true, ...old }),
        ],
      },
      [1, 1, 1, 0, 1, 0, 0],
    ],
    [
      'beside a bound pod an unbound one does not count, however old',
      {
        nodes: [node('a')],
        pods: [
          namedPod('a', 'unbound', { createdAtMs: 1, boundNode: null, isReady: false, ...old }),
          namedPod('a', 'bound', { createdAtMs: 2 }),
        ],
      },
      [1, 1, 1, 1, 1, 0, 0],
    ],
    [
      'a pod of the current template generation is updated, whatever its hash',
      {
        daemonSet: daemonSet({
          metadata: { annotations: { 'deprecated.daemonset.template.generation': '3' } },
        }),
        nodes: [node('a')],
        pods: [pod('a', { labels: { app: 'agent', 'pod-template-generation': '3' } })],
      },
      [1, 1, 1, 1, 1, 0, 0],
    ],
    [
      'a terminating pod that is not terminal counts',
      { nodes: [node('a')], pods: [pod('a', { isTerminating: true })] },
      [1, 1, 1, 1, 1, 0, 0],
    ],
    [
      'a terminal terminating pod does not',
      { nodes: [node('a')], pods: [failedPod('a', { isTerminating: true })] },
      [1, 0, 0, 0, 0, 1, 0],
    ],
    [
      'a tolerated leftover is misscheduled and in no other counter',
      { nodes: [keeping], pods: [pod('k')] },
      [0, 0, 0, 0, 0, 0, 1],
    ],
    ['a tainted node without a pod', { nodes: [keeping] }, [0, 0, 0, 0, 0, 0, 0]],
    ['a pod on a node that does not exist', { pods: [pod('gone')] }, [0, 0, 0, 0, 0, 0, 0]],
    [
      'a ready pod within minReadySeconds',
      {
        daemonSet: daemonSet({ spec: { minReadySeconds: 60 } }),
        nodes: [node('a')],
        pods: [pod('a', { readyChangedAtMs: NOW_MS - 59_000 })],
      },
      [1, 1, 1, 1, 0, 1, 0],
    ],
  ];
  for (const [title, options, expected] of rows) {
    it(title, () => assert.deepEqual(counters(options), expected));
  }
});

describe('observedGeneration (S7)', () => {
  const generation = (
    meta: number | undefined,
    observed: number | undefined,
    observeGeneration: boolean,
  ): number | undefined => {
    const set = daemonSet({
      metadata: { generation: meta },
      ...(observed === undefined ? {} : { status: { observedGeneration: observed } }),
    });
    const options = { currentHash: undefined, observeGeneration };
    return computeStatus(view({ daemonSet: set }), options).observedGeneration;
  };
  it('rises to metadata.generation only when the run was allowed to act', () => {
    assert.equal(generation(3, 2, true), 3);
    assert.equal(generation(3, 2, false), 2);
    assert.equal(generation(3, undefined, false), undefined);
    assert.equal(generation(3, undefined, true), 3);
  });
  it('never falls', () => {
    assert.equal(generation(1, 2, true), 2);
    assert.equal(generation(undefined, 2, true), 2);
  });
});

describe('what is not ours', () => {
  it('is preserved: conditions, collisionCount and unknown members', () => {
    const conditions = [{ type: 'Custom', status: 'True' }];
    const kept = { conditions, collisionCount: 4, future: 'x' };
    const status = computeStatus(view({ daemonSet: daemonSet({ status: kept }) }), acting);
    for (const [key, value] of Object.entries(kept)) assert.deepEqual(status[key], value);
  });
});

describe('hasSameStatus', () => {
  const base: DaemonSetStatus = {
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
    desiredNumberScheduled: 1,
    numberReady: 1,
    observedGeneration: 2,
  };
  it('takes absent counters as zero, and ignores what is not ours', () => {
    assert.equal(hasSameStatus({ ...base, numberAvailable: 0, collisionCount: 1 }, base), true);
  });
  it('is false for another counter, a newer generation, or no status yet', () => {
    assert.equal(hasSameStatus(base, { ...base, updatedNumberScheduled: 1 }), false);
    assert.equal(hasSameStatus(base, { ...base, observedGeneration: 3 }), false);
    assert.equal(hasSameStatus(undefined, base), false);
  });
  it('is false while only one of the two says that Rollcall holds still', () => {
    const notice = rivalNotice({ seenAtMs: NOW_MS, evidence: 'x' });
    const paused = withPauseNotice(base, notice, NOW_MS);
    assert.equal(hasSameStatus(base, paused), false);
    assert.equal(hasSameStatus(paused, base), false);
    assert.equal(hasSameStatus(paused, paused), true);
  });
  it('is true when a run may not raise the generation: nothing to write (spec 2.12)', () => {
    assert.equal(hasSameStatus(base, { ...base, observedGeneration: 1 }), true);
    const { observedGeneration: _none, ...unobserved } = base;
    assert.equal(hasSameStatus(unobserved, unobserved), true);
  });
});

describe('protocol 8: what a status rests on', () => {
  const base: DaemonSetStatus = {
    currentNumberScheduled: 1,
    numberMisscheduled: 0,
    desiredNumberScheduled: 1,
    numberReady: 1,
    observedGeneration: 2,
    collisionCount: 1,
  };
  it('is the same with absent members for zeros, and whatever others keep there', () => {
    assert.equal(isSameBasis(undefined, undefined), true);
    const { collisionCount: _none, ...uncollided } = base;
    assert.equal(isSameBasis({ ...base, collisionCount: 0 }, uncollided), true);
    assert.equal(isSameBasis({ ...base, numberAvailable: 0, conditions: [] }, base), true);
    assert.equal(isSameBasis(undefined, { ...base, observedGeneration: 0 }), false);
  });
  it('is another with another counter, generation or collisionCount', () => {
    assert.equal(isSameBasis({ ...base, numberUnavailable: 1 }, base), false);
    assert.equal(isSameBasis({ ...base, observedGeneration: 1 }, base), false);
    assert.equal(isSameBasis({ ...base, collisionCount: 2 }, base), false);
    const { observedGeneration: _none, ...unobserved } = base;
    assert.equal(isSameBasis({ ...unobserved, observedGeneration: 0 }, unobserved), true);
  });
  it('gets the counters and the generation over what stands there; the rest is left', () => {
    const conditions = [{ type: 'example.com/Checked', status: 'True' }];
    const live = { ...base, conditions, collisionCount: 4, 'example.com/other': 7 };
    const next = { ...base, numberReady: 0, observedGeneration: 3, collisionCount: 9 };
    const written = withCounts(live, next);
    assert.deepEqual(written, { ...live, numberReady: 0, observedGeneration: 3 });
  });
  it('needs neither a status to stand on nor a generation, and loses our notice', () => {
    const { observedGeneration: _none, collisionCount: _count, ...unobserved } = base;
    assert.deepEqual(withCounts(undefined, unobserved), unobserved);
    const rival = { seenAtMs: NOW_MS, evidence: 'x' };
    const paused = withPauseNotice(base, rivalNotice(rival), NOW_MS);
    assert.deepEqual(withCounts(paused, base), base);
  });
});
