/**
 * What a watcher that was taken over says of its cluster: each lie makes another message of a true one.
 *
 * Its sender's identity it cannot choose (SQS sets it); everything else it can, the header too. Marks, hashes and names of others are
 * lies as well as pods and nodes are. Pure.
 */
import type {
  Cut,
  Delta,
  SnapshotSlice,
  WatcherBody,
  WatcherMessage,
} from '../../../src/core/model/watcher-message.ts';
import { resourceVersion } from '../../../src/core/model/identifiers.ts';
import type { Projection, WatchedKind } from '../../../src/core/model/projections.ts';

/** What it may say; `nothing`: no message comes. */
export const LIES = [
  'pods-fail',
  'all-well',
  'nodes-bad',
  'nodes-gone',
  'sets-gone',
  'marks-ahead',
  'wrong-hashes',
  'other-uid',
  'other-cluster',
  'nothing',
] as const;

export type Lie = (typeof LIES)[number];

export type Other = Pick<WatcherMessage, 'cluster' | 'clusterUid'>;

/** The message as it is sent; undefined: it is not. */
export function lieOf(message: WatcherMessage, lie: Lie, other: Other): WatcherMessage | undefined {
  switch (lie) {
    case 'nothing':
      return undefined;
    case 'other-uid':
      return { ...message, clusterUid: other.clusterUid };
    case 'other-cluster':
      return { ...message, cluster: other.cluster, clusterUid: other.clusterUid };
    case 'marks-ahead':
      return withCut(message, (cut) => ({ ...cut, marks: ahead(cut.marks) }));
    case 'wrong-hashes':
      return withCut(message, (cut) => ({ ...cut, hashes: { ...cut.hashes, Pod: 1, Node: 2 } }));
    case 'pods-fail':
    case 'all-well':
    case 'nodes-bad':
      return { ...message, body: withObjects(message.body, (object) => shown(object, lie)) };
    case 'nodes-gone':
      return { ...message, body: without(message.body, 'Node') };
    case 'sets-gone':
      return { ...message, body: without(message.body, 'DaemonSet') };
  }
}

const FAR = 1_000_000_000;

function ahead(marks: Cut['marks']): Cut['marks'] {
  return Object.fromEntries(
    Object.entries(marks).map(([kind, mark]) => [
      kind,
      resourceVersion(String(Number(mark) + FAR)),
    ]),
  );
}

function withCut(message: WatcherMessage, change: (cut: Cut) => Cut): WatcherMessage {
  const { body } = message;
  if (!('cut' in body) || body.cut === undefined) return message;
  return { ...message, body: { ...body, cut: change(body.cut) } };
}

function shown(object: Projection, lie: Lie): Projection {
  if (object.kind === 'Node') return lie === 'nodes-bad' ? { ...object, isReady: false } : object;
  if (object.kind !== 'Pod' || lie === 'nodes-bad') return object;
  const { trouble: _true, ...pod } = object;
  return lie === 'all-well'
    ? { ...pod, phase: 'Running', isReady: true, isTerminating: false }
    : { ...pod, isReady: false, trouble: { restarts: 5, waiting: 'CrashLoopBackOff' } };
}

function withObjects(body: WatcherBody, change: (object: Projection) => Projection): WatcherBody {
  if (body.kind === 'changes') {
    const deltas = body.deltas.map((delta): Delta => {
      const { object } = delta;
      return object === null ? delta : { ...delta, object: change(object) };
    });
    return { ...body, deltas };
  }
  if (body.kind !== 'slices') return body;
  const slices = body.slices.map((slice): SnapshotSlice => ({
    ...slice,
    objects: slice.objects.map((one) => ({ ...one, object: change(one.object) })),
  }));
  return { ...body, slices };
}

/** As if none of a kind were there. */
function without(body: WatcherBody, kind: WatchedKind): WatcherBody {
  if (body.kind === 'changes') {
    const deltas = body.deltas.map((delta) =>
      delta.of === kind ? { ...delta, object: null, sets: [], formerSets: delta.sets } : delta,
    );
    return { ...body, deltas };
  }
  if (body.kind !== 'slices') return body;
  const slices = body.slices.map((slice) => ({
    ...slice,
    objects: slice.objects.filter(({ object }) => object.kind !== kind),
  }));
  return { ...body, slices };
}
