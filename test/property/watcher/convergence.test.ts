/**
 * Any interleaving of events, failed sends, broken streams and restarts ends in the same place: what was
 * accepted, applied in order, is exactly the cluster's present projections (S8, L1; protocol 2, 16, 19).
 *
 * The reader asserts hashes at each cut. Marks are checked here: whatever a cut's marks cover must have
 * been sent with it, or before.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { WATCHED_KINDS } from '../../../src/core/model/projections.ts';
import type { Projection, WatchedKind } from '../../../src/core/model/projections.ts';
import type { Watcher } from '../../../src/watcher/session/watcher.ts';
import { ReferenceIngest } from '../../support/reference-ingest.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
  revisionDraft,
} from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

type Step =
  | { readonly kind: 'node'; readonly id: number; readonly variant: number }
  | { readonly kind: 'daemon-set'; readonly id: number; readonly variant: number }
  | { readonly kind: 'pod'; readonly id: number; readonly owner: number; readonly variant: number }
  | { readonly kind: 'revision'; readonly id: number; readonly owner: number }
  | { readonly kind: 'remove'; readonly of: WatchedKind; readonly id: number }
  | { readonly kind: 'bookmark' | 'end' | 'compact' | 'fail'; readonly of: WatchedKind }
  | {
      readonly kind: 'send-fault';
      readonly fault: 'ambiguous' | 'lost-answer' | 'unsent' | 'refused';
    }
  | { readonly kind: 'request' | 'lease-gone' | 'other-holder' | 'restart' }
  | { readonly kind: 'wait'; readonly ms: number };

const id = fc.nat({ max: 5 });
const kindOf = fc.constantFrom(...WATCHED_KINDS);
const variant = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('node' as const), id, variant }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('daemon-set' as const), id, variant }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('pod' as const), id, owner: id, variant }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revision' as const), id, owner: id }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), of: kindOf, id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'bookmark' as const,
        'end' as const,
        'compact' as const,
        'fail' as const,
      ),
      of: kindOf,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('send-fault' as const),
      fault: fc.constantFrom(
        'ambiguous' as const,
        'lost-answer' as const,
        'unsent' as const,
        'refused' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'request' as const,
        'lease-gone' as const,
        'other-holder' as const,
        'restart' as const,
      ),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 3, 6, 20, 260, 1100, 15_000),
    }),
  },
);

/** Changes an object of the cluster, or breaks something. Restarts and waits are the caller's. */
function play(harness: WatcherHarness, action: Step): void {
  if (!changeObject(harness, action)) disturb(harness, action);
}

function changeObject({ source }: WatcherHarness, action: Step): boolean {
  switch (action.kind) {
    case 'node': {
      const spec = { unschedulable: action.variant === 1 };
      source.put('Node', nodeDraft(`n${String(action.id)}`, { spec, noise: action.variant }));
      return true;
    }
    case 'daemon-set': {
      const draft = daemonSetDraft(`app${String(action.id)}`);
      source.put('DaemonSet', { ...draft, note: action.variant });
      return true;
    }
    case 'pod': {
      // Every third pod is an orphan; owners may not exist (any more, or yet).
      const app = `app${String(action.owner)}`;
      const owner = source.objects('DaemonSet').find(({ metadata }) => metadata.name === app);
      const controller = action.variant === 2 ? {} : { owner: owner?.metadata.uid ?? 'nobody' };
      const state = { app, ready: action.variant === 1, noise: action.id };
      source.put('Pod', podDraft(`p${String(action.id)}`, { ...state, ...controller }));
      return true;
    }
    case 'revision': {
      const draft = revisionDraft(`r${String(action.id)}`, `o${String(action.owner)}`);
      source.put('ControllerRevision', draft);
      return true;
    }
    case 'remove':
      source.remove(action.of, namesOf(action.of, action.id));
      return true;
    default:
      return false;
  }
}

function disturb({ source, queue }: WatcherHarness, action: Step): void {
  const reset = { kind: 'unavailable', message: 'connection reset' } as const;
  switch (action.kind) {
    case 'bookmark':
      source.bookmark(action.of);
      return;
    case 'end':
      source.endStreams(action.of);
      return;
    case 'compact':
      source.compact(action.of);
      source.endStreams(action.of);
      return;
    case 'fail':
      source.send(action.of, { kind: 'failed', failure: reset });
      return;
    case 'send-fault':
      queue.faults.push(action.fault);
      return;
    case 'request':
      source.editLease((lease) => annotated(lease, String(source.version)));
      return;
    case 'lease-gone':
      source.editLease(() => null);
      return;
    case 'other-holder':
      source.editLease((lease) => ({ ...lease, spec: { holderIdentity: 'somebody else' } }));
      return;
    default:
  }
}

function namesOf(kind: WatchedKind, number: number): { name: string; namespace?: string } {
  const prefix = { Node: 'n', DaemonSet: 'app', Pod: 'p', ControllerRevision: 'r' }[kind];
  const name = `${prefix}${String(number)}`;
  return kind === 'Node' ? { name } : { name, namespace: 'infra' };
}

function annotated(lease: KubernetesObject, request: string): KubernetesObject {
  const annotations = { 'rollcall.dev/snapshot-requested': request, foreign: 'kept' };
  return { ...lease, metadata: { ...lease.metadata, annotations } };
}

/** What the marks of a cut vouch for has been sent: present objects in their state, deletions as such. */
function checkMarks(reader: ReferenceIngest, harness: WatcherHarness): void {
  const stored = new Map<string, Projection>();
  for (const objects of reader.sets.values()) {
    for (const [uid, { object }] of objects) stored.set(uid, object);
  }
  for (const kind of WATCHED_KINDS) {
    for (const object of harness.source.objects(kind)) {
      if (!isCovered(reader, kind, object) || !isPlaced(reader, harness, object)) continue;
      const sent = stored.get(object.metadata.uid);
      assert.ok(sent !== undefined, `${kind} ${object.metadata.name} is covered`);
      assert.ok(isSameState(sent, object), `${kind} ${object.metadata.name} is covered as it is`);
    }
  }
  for (const [uid, object] of stored) {
    const kind = object.kind === 'Opaque' ? object.of : object.kind;
    const deletedAt = harness.source.deletions.get(uid) ?? Number.POSITIVE_INFINITY;
    assert.ok(deletedAt > Number(reader.marks[kind] ?? '0'), `deletion of ${uid} is covered`);
  }
}

function isCovered(reader: ReferenceIngest, kind: WatchedKind, object: KubernetesObject): boolean {
  return Number(object.metadata.resourceVersion) <= Number(reader.marks[kind] ?? '0');
}

function isSameState(sent: Projection, object: KubernetesObject): boolean {
  const spec = object['spec'] as { readonly unschedulable?: boolean } | undefined;
  const status = object['status'] as { readonly phase?: string } | undefined;
  switch (sent.kind) {
    case 'Node':
      return sent.unschedulable === (spec?.unschedulable === true);
    case 'Pod':
      return sent.phase === status?.phase;
    case 'DaemonSet':
      return sent.object['note'] === object['note'];
    case 'ControllerRevision':
    case 'Opaque':
      return true;
  }
}

/** Orphans are placed by DaemonSets, and only by those that the marks cover, too. */
function isPlaced(
  reader: ReferenceIngest,
  harness: WatcherHarness,
  object: KubernetesObject,
): boolean {
  const isOrphanPod =
    object.metadata.name.startsWith('p') && object.metadata.ownerReferences === undefined;
  if (!isOrphanPod) return true;
  return harness.source
    .objects('DaemonSet')
    .filter(({ metadata }) => metadata.name === object.metadata.labels?.['app'])
    .some((daemonSet) => isCovered(reader, 'DaemonSet', daemonSet));
}

function ownersOf(harness: WatcherHarness, pod: KubernetesObject): readonly string[] {
  return harness.source
    .objects('DaemonSet')
    .filter(({ metadata }) => metadata.name === pod.metadata.labels?.['app'])
    .map(({ metadata }) => metadata.uid);
}

/** uid → set ids of what should be stored, straight from the cluster's raw objects. */
function expectedPlaces(harness: WatcherHarness): ReadonlySet<string> {
  const places = new Set<string>();
  for (const { metadata } of harness.source.objects('Node')) places.add(`nodes ${metadata.uid}`);
  for (const { metadata } of harness.source.objects('DaemonSet')) {
    places.add(`daemonsets ${metadata.uid}`);
  }
  for (const kind of ['Pod', 'ControllerRevision'] as const) {
    const prefix = kind === 'Pod' ? 'pods' : 'revisions';
    for (const object of harness.source.objects(kind)) {
      const owner = object.metadata.ownerReferences?.[0]?.uid;
      const owners = owner === undefined ? ownersOf(harness, object) : [owner];
      for (const one of owners) places.add(`${prefix}/${one} ${object.metadata.uid}`);
    }
  }
  return places;
}

function checkPlaces(reader: ReferenceIngest, harness: WatcherHarness): void {
  const places = new Set<string>();
  for (const [set, objects] of reader.sets) {
    for (const uid of objects.keys()) places.add(`${set} ${uid}`);
  }
  assert.deepEqual(places, expectedPlaces(harness));
  for (const { metadata, ...object } of harness.source.objects('Node')) {
    const stored = reader.set('nodes').get(metadata.uid);
    // What the queue refused travels opaque from then on.
    if (stored?.kind === 'Opaque') continue;
    const spec = object['spec'] as { readonly unschedulable?: boolean };
    assert.ok(stored?.kind === 'Node' && stored.unschedulable === (spec.unschedulable === true));
  }
}

const EPOCH_STEPS: ReadonlySet<string> = new Set(['restart', 'lease-gone', 'other-holder']);

async function run(steps: readonly Step[], seed: number): Promise<void> {
  const harness = createWatcherHarness({ messageBytesMax: 4096 });
  const { clock, source, queue } = harness;
  source.hasWatchList = seed % 2 === 0;
  queue.sendMs = seed % 3 === 0 ? 20 : 0;
  const reader = new ReferenceIngest();
  let read = 0;
  const catchUp = (): void => {
    for (const message of queue.accepted.slice(read)) {
      reader.apply(message);
      const { body } = message;
      const hasCut = 'cut' in body && body.cut !== undefined;
      if (hasCut && reader.isComplete && message.epoch === reader.epoch)
        checkMarks(reader, harness);
    }
    read = queue.accepted.length;
  };
  let watcher: Watcher = harness.newWatcher(seed);
  await watcher.start();
  for (const [index, action] of steps.entries()) {
    play(harness, action);
    if (action.kind === 'restart') {
      await watcher.stop();
      watcher = harness.newWatcher(seed + index + 1);
      await watcher.start();
    }
    if (action.kind === 'wait') {
      await clock.advance(action.ms);
      catchUp();
    }
  }
  queue.faults.length = 0;
  await clock.advance(2 * 3_600_000);
  catchUp();
  assert.equal(watcher.status().session?.phase, 'steady');
  assert.equal(reader.isComplete, true);
  assert.equal(reader.isCutOpen, false);
  const isAlone = !steps.some(({ kind }) => EPOCH_STEPS.has(kind));
  // The last send of an old epoch may still be under way when a new one begins.
  if (isAlone) assert.equal(queue.inFlightMax, 1);
  checkMarks(reader, harness);
  checkPlaces(reader, harness);
  await watcher.stop();
  // A send that was under way ends by itself, at the queue.
  await clock.advance(queue.sendMs);
  assert.equal(clock.pendingTimers, 0);
}

test('accepted messages, applied in order, are the cluster: under faults and restarts (L1, S8)', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.nat({ max: 1000 }), run), {
    numRuns: 120,
  });
});
