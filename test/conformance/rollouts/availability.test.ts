/** The checker of rollouts, on events made up by hand: it must be able to fail. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPod } from '../control-plane/observed-records.ts';
import type { ObservedEvent } from '../control-plane/observer.ts';
import { measureRollout } from './availability.ts';

interface PodSketch {
  readonly uid: string;
  readonly node: string;
  readonly revision?: string;
  readonly readyAtMs?: number;
  readonly isDeleting?: boolean;
  readonly owner?: string;
}

const NODES = ['n1', 'n2', 'n3'];

function seen(atMs: number, type: ObservedEvent['type'], sketch: PodSketch): ObservedEvent {
  const { uid, node, revision = 'a', readyAtMs, isDeleting = false, owner = 'ds' } = sketch;
  const ready = { type: 'Ready', status: readyAtMs === undefined ? 'False' : 'True' };
  const since = readyAtMs === undefined ? {} : { lastTransitionTime: new Date(readyAtMs).toJSON() };
  const record = readPod({
    metadata: {
      name: `pod-${uid}`,
      uid,
      labels: { 'controller-revision-hash': revision },
      ...(isDeleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'x', uid: owner, controller: true },
      ],
    },
    spec: { nodeName: node },
    status: { phase: 'Running', conditions: [{ ...ready, ...since }] },
  });
  return { atMs, type, isRelist: false, record };
}

/** Three nodes, each with an available pod since the beginning. */
const SETTLED = NODES.map((node) =>
  seen(1000, 'ADDED', { uid: `old-${node}`, node, readyAtMs: 1000 }),
);
const FROM = SETTLED.length;
const QUESTION = { daemonSetUid: 'ds', nodes: NODES, fromEvent: FROM };

function replaced(node: string, startMs: number): ObservedEvent[] {
  const fresh = { uid: `new-${node}`, node, revision: 'b' };
  const old = { uid: `old-${node}`, node, readyAtMs: 1000, isDeleting: true };
  return [
    seen(startMs, 'MODIFIED', old),
    seen(startMs + 10, 'DELETED', old),
    seen(startMs + 20, 'ADDED', fresh),
    seen(startMs + 30, 'MODIFIED', { ...fresh, readyAtMs: startMs + 30 }),
  ];
}

describe('the checker of rollouts', () => {
  it('finds the lowest availability, also where it lasts for one event', () => {
    const oneByOne = NODES.flatMap((node, index) => replaced(node, 2000 + index * 100));
    const calm = measureRollout([...SETTLED, ...oneByOne], QUESTION);
    assert.equal(calm.availableNodesMin, 2);
    assert.equal(calm.livePodsPerNodeMax, 1);
    assert.equal(calm.tookMs, 230);
    const overlapping = NODES.flatMap((node, index) => replaced(node, 2000 + index * 25));
    overlapping.sort((left, right) => left.atMs - right.atMs);
    const hasty = measureRollout([...SETTLED, ...overlapping], QUESTION);
    assert.equal(hasty.availableNodesMin, 1);
    assert.deepEqual(
      hasty.deletions.map(({ wasAvailable, unavailableNodesBefore }) => ({
        wasAvailable,
        unavailableNodesBefore,
      })),
      [0, 1, 1].map((unavailableNodesBefore) => ({ wasAvailable: true, unavailableNodesBefore })),
    );
  });

  it('counts a pod as available only after minReadySeconds', () => {
    const events = [...SETTLED, ...replaced('n1', 20_000), ...replaced('n2', 24_000)];
    const report = measureRollout(events, { ...QUESTION, minReadySeconds: 5 });
    assert.equal(report.availableNodesMin, 1);
    const later = [...SETTLED, ...replaced('n1', 20_000), ...replaced('n2', 25_030)];
    assert.equal(measureRollout(later, { ...QUESTION, minReadySeconds: 5 }).availableNodesMin, 2);
  });

  it('counts each creation and deletion once, and none of what was before', () => {
    const report = measureRollout([...SETTLED, ...replaced('n2', 2000)], QUESTION);
    assert.deepEqual(
      report.creations.map(({ podUid }) => podUid),
      ['new-n2'],
    );
    assert.deepEqual(
      report.deletions.map(({ podUid }) => podUid),
      ['old-n2'],
    );
  });

  it('tells a surge pod from a second pod of one revision', () => {
    const beside = (revision: string): ObservedEvent[] => [
      ...SETTLED,
      seen(2000, 'ADDED', { uid: 'second', node: 'n1', revision }),
    ];
    const surge = measureRollout(beside('b'), QUESTION);
    assert.equal(surge.surgingNodesMax, 1);
    assert.equal(surge.livePodsPerNodeMax, 2);
    assert.equal(surge.revisionsPerNodeMax, 2);
    assert.equal(surge.livePodsPerNodeAndRevisionMax, 1);
    assert.equal(measureRollout(beside('a'), QUESTION).livePodsPerNodeAndRevisionMax, 2);
  });

  it('sees pods of other DaemonSets as nobody, and one that was orphaned as lost', () => {
    const foreign = seen(2000, 'ADDED', {
      uid: 'foreign',
      node: 'n1',
      readyAtMs: 2000,
      owner: 'x',
    });
    const orphaned = seen(2100, 'MODIFIED', {
      uid: 'old-n1',
      node: 'n1',
      readyAtMs: 1000,
      owner: 'nobody',
    });
    const report = measureRollout([...SETTLED, foreign, orphaned], QUESTION);
    assert.equal(report.availableNodesMin, 2);
    assert.equal(report.creations.length, 0);
  });
});
