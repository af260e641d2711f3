/** What counts as a failure of a node: not Ready, an eviction, a reboot under its pod; of peers as of updated nodes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { StageNode } from '../../../../src/core/stages/stage-node.ts';
import {
  advanceAwaited,
  awaitedSinceMs,
  bootOf,
  countRestarts,
  momentsIn,
  trialNodes,
  watchedPod,
} from '../../../../src/core/stages/observe.ts';
import { NOW_MS, node, pod } from '../../../support/core-fixtures.ts';
import { record, stagesInput } from '../../../support/stage-records.ts';
import { stageNode, type StageNodeOptions } from '../../../support/stage-nodes.ts';

const STARTED_MS = NOW_MS - 600_000;

const AT = { nowMs: NOW_MS, sinceMs: STARTED_MS };

function isBad(options: StageNodeOptions): boolean {
  return trialNodes([stageNode('n1', options)], AT)[0]?.isBad ?? false;
}

const EVICTED: Partial<PodProjection> = { phase: 'Failed', reason: 'Evicted', isReady: false };
const rebooted = (finishedAtMs: number): Partial<PodProjection> => ({
  isReady: false,
  createdAtMs: STARTED_MS - 1,
  trouble: { restarts: 3, lastExit: { reason: 'Unknown', exitCode: 255, finishedAtMs } },
});

describe('a node is bad', () => {
  it('that is not Ready', () => {
    assert.equal(isBad({ isReady: false }), true);
    assert.equal(isBad({}), false);
  });

  it('that evicted its pod, of either revision', () => {
    assert.equal(isBad({ is: 'unwell', pod: EVICTED }), true);
    assert.equal(isBad({ is: 'old', pod: EVICTED }), true);
  });

  it('that restarted since the rollout began, and has not got its pod up', () => {
    assert.equal(isBad({ is: 'old', pod: rebooted(NOW_MS - 1000) }), true);
    assert.equal(isBad({ is: 'old', pod: rebooted(STARTED_MS - 1) }), false, 'before it');
    assert.equal(isBad({ is: 'old', pod: { ...rebooted(NOW_MS), isReady: true } }), false);
  });

  it('for nothing that only a new pod can show, or that is the release’s', () => {
    assert.equal(isBad({ is: 'unwell', pod: { ...EVICTED, reason: 'OutOfcpu' } }), false);
    assert.equal(isBad({ is: 'unwell', pod: { phase: 'Pending', createdAtMs: 0 } }), false);
    const oom = { reason: 'OOMKilled', exitCode: 137, finishedAtMs: NOW_MS };
    assert.equal(isBad({ is: 'well', pod: { trouble: { restarts: 2, lastExit: oom } } }), false);
    assert.equal(isBad({ is: 'unwell', pod: { ...EVICTED, isTerminating: true } }), false);
    assert.equal(isBad({ is: 'empty' }), false);
  });
});

describe('pods that are not ready', () => {
  const unready = (name: string, of: Partial<PodProjection> = {}) =>
    stageNode(name, {
      is: 'unwell',
      pod: { uid: uid(`pod-of-${name}`), readyChangedAtMs: 1, ...of },
    });

  it('are noted at the first look, by our clock, and forgotten when they are ready or gone', () => {
    const first = advanceAwaited([], [unready('n1')], NOW_MS);
    assert.deepEqual(first, [{ uid: 'pod-of-n1', sinceMs: NOW_MS, changedAtMs: 1 }]);
    assert.equal(advanceAwaited(first, [unready('n1')], NOW_MS + 9), first);
    assert.deepEqual(advanceAwaited(first, [unready('n1', { isReady: true })], NOW_MS + 9), []);
    assert.deepEqual(advanceAwaited(first, [], NOW_MS + 9), []);
  });

  it('are noted anew where they were ready in between', () => {
    const first = advanceAwaited([], [unready('n1')], NOW_MS);
    const next = advanceAwaited(first, [unready('n1', { readyChangedAtMs: 2 })], NOW_MS + 9);
    assert.deepEqual(next, [{ uid: 'pod-of-n1', sinceMs: NOW_MS + 9, changedAtMs: 2 }]);
  });

  it('are those of the revision, one a node that has no old pod', () => {
    assert.deepEqual(advanceAwaited([], [stageNode('n1', { pod: { isReady: false } })], 1), []);
    assert.deepEqual(advanceAwaited([], [stageNode('n1', { is: 'empty' })], 1), []);
  });

  it('are bounded: those that are known stay, and the others are not late yet', () => {
    const all = Array.from({ length: 70 }, (_, index) => unready(`n${String(index)}`));
    const first = advanceAwaited([], all.slice(6), NOW_MS);
    assert.equal(first.length, 64);
    const later = advanceAwaited(first, all, NOW_MS + 9);
    assert.equal(later, first);
    assert.equal(awaitedSinceMs(first, uid('pod-of-n69'), NOW_MS + 9), NOW_MS);
    assert.equal(awaitedSinceMs(first, uid('pod-of-n0'), NOW_MS + 9), NOW_MS + 9);
    assert.equal(awaitedSinceMs(undefined, uid('pod-of-n0'), NOW_MS), undefined);
  });
});

describe('a reboot', () => {
  const SYSTEM = {
    kernelVersion: '',
    osImage: '',
    containerRuntimeVersion: '',
    kubeletVersion: '',
  };
  const booted = (bootId: string) => node('n1', { system: { ...SYSTEM, bootId } });

  it('is another boot ID than when the pod was first watched', () => {
    const first = booted('0123456789');
    const { boot } = watchedPod(pod('n1'), first);
    assert.equal(boot, '01234567');
    const entry = {
      uid: pod('n1').uid,
      node: first.name,
      changedAtMs: 0,
      isReady: true,
      turns: 0,
      boot,
    };
    assert.equal(bootOf(entry, first), 'same');
    assert.equal(bootOf(entry, booted('f123456789')), 'changed');
    assert.equal(bootOf(entry, node('n1')), undefined);
    const { boot: _none, ...unknown } = entry;
    assert.equal(bootOf(unknown, first), undefined);
    assert.equal(bootOf(undefined, first), undefined);
  });

  it('is not told of a node that does not say', () => {
    assert.deepEqual(Object.keys(watchedPod(pod('n1'), node('n1'))), ['pod', 'isNodeReady']);
  });
});

it('exits count from the start of the record', () => {
  const moments = momentsIn(record({ startedAtMs: 5 }), stagesInput({ nowMs: 7 }));
  assert.deepEqual(moments, { nowMs: 7, sinceMs: 5 });
});

function seen(node: StageNode): { readonly isUpdated: boolean; readonly isBad: boolean } {
  const [first] = trialNodes([node], AT);
  assert.ok(first !== undefined);
  return { isUpdated: first.isUpdated, isBad: first.isBad };
}

describe('nodes as the trial sees them', () => {
  it('are updated once they have a new pod, or lost the old one to the rollout', () => {
    assert.deepEqual(seen(stageNode('n1')), { isUpdated: false, isBad: false });
    assert.deepEqual(seen(stageNode('n1', { is: 'well' })), { isUpdated: true, isBad: false });
    assert.deepEqual(seen(stageNode('n1', { is: 'empty' })), { isUpdated: true, isBad: false });
  });

  it('are bad when they are not Ready, whatever their pods say', () => {
    assert.deepEqual(seen(stageNode('n1', { isReady: false })), { isUpdated: false, isBad: true });
    assert.deepEqual(seen(stageNode('n1', { is: 'unwell' })), { isUpdated: true, isBad: false });
  });

  it('carry their name, stratum and age; no age where nobody told it', () => {
    const old = stageNode('n1');
    const aged = { ...old, node: { ...old.node, createdAtMs: 7_000 } };
    const [first, second] = trialNodes([aged, stageNode('n2')], AT);
    assert.equal(first?.name, 'n1');
    assert.equal(first.createdAtMs, 7_000);
    assert.equal(typeof first.stratum, 'string');
    assert.ok(second !== undefined && !('createdAtMs' in second));
  });
});

describe('restarts', () => {
  it('are counted of pods of the revision alone', () => {
    const nodes = [
      stageNode('n1', { is: 'well', pod: { trouble: { restarts: 2 } } }),
      stageNode('n2', { is: 'unwell', pod: { trouble: { restarts: 3 } } }),
      stageNode('n3', { pod: { trouble: { restarts: 40 } } }),
      stageNode('n4', { is: 'well' }),
      stageNode('n5', { is: 'well', pod: { trouble: { waiting: 'ImagePullBackOff' } } }),
    ];
    assert.equal(countRestarts(nodes), 5);
    assert.equal(countRestarts([]), 0);
  });
});
