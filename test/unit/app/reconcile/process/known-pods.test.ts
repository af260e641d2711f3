/** ADR 0071: what a process remembers of lists of pods, of whom, and for how long. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KnownPods } from '../../../../../src/app/reconcile/process/process-cache.ts';
import { resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { PodMetadata } from '../../../../../src/ports/cluster/cluster-access.ts';

const KEY = { clusterUid: 'c', uid: uid('set') };
const MINUTE_MS = 60_000;

function podsOf(count: number): readonly PodMetadata[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `agent-${index}`,
    uid: uid(`pod-${index}`),
    resourceVersion: resourceVersion('1'),
    isTerminating: false,
    labels: {},
    createdAtMs: 0,
  }));
}

describe('known pods', () => {
  it('are those of the last list, for ten minutes', () => {
    const known = new KnownPods();
    known.note(KEY, podsOf(2), 0);
    assert.equal(known.find(KEY, uid('pod-1'), 9 * MINUTE_MS)?.name, 'agent-1');
    assert.equal(known.find(KEY, uid('pod-1'), 10 * MINUTE_MS), undefined);
    known.note(KEY, podsOf(1), 5);
    assert.equal(known.find(KEY, uid('pod-1'), 5), undefined);
  });

  it('answer for no other cluster, though it gives its DaemonSet the same UID (faults 31)', () => {
    const known = new KnownPods();
    known.note(KEY, podsOf(1), 0);
    assert.equal(known.find({ ...KEY, clusterUid: 'd' }, uid('pod-0'), 0), undefined);
  });

  it('are so many: the oldest list leaves, and none is kept that is larger than all may be', () => {
    const known = new KnownPods();
    const first = { clusterUid: 'c', uid: uid('first') };
    known.note(first, podsOf(20_000), 0);
    known.note(KEY, podsOf(20_000), 0);
    assert.ok(known.find(first, uid('pod-0'), 0));
    known.note({ clusterUid: 'c', uid: uid('third') }, podsOf(1), 0);
    assert.equal(known.find(first, uid('pod-0'), 0), undefined);
    assert.ok(known.find(KEY, uid('pod-0'), 0));
    known.note(KEY, podsOf(40_001), 0);
    assert.equal(known.find(KEY, uid('pod-0'), 0), undefined);
  });
});
