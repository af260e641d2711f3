/**
 * The real watcher's messages, applied by the real ingest: what `reconcile` can read is the cluster.
 *
 * Objects change, streams break, history expires, snapshots are asked for and watchers restart; each
 * message arrives twice now and then. A failure prints fast-check's seed and path.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { readPositionNow } from '../../../src/app/reconcile/read/stored-inputs.ts';
import { WATCHED_KINDS } from '../../../src/core/model/projections.ts';
import { IngestHarness, registrationFor } from '../../support/ingest-harness.ts';
import {
  createWatcherHarness,
  daemonSetDraft,
  nodeDraft,
  podDraft,
  revisionDraft,
} from '../../support/watcher-harness.ts';
import type { Stamp } from '../../../src/core/model/position.ts';
import type { SlicedSet } from '../../../src/ports/stores/view-store.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

const id = fc.nat({ max: 4 });
const kindOf = fc.constantFrom(...WATCHED_KINDS);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('node' as const), id, variant: id }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('daemon-set' as const), id, variant: id }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('pod' as const), id, owner: id, variant: id }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('revision' as const), id, owner: id }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), of: kindOf, id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const), of: kindOf }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('request' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat({ max: 900 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function ownerUidOf({ source }: WatcherHarness, owner: number): string {
  const name = `app${owner}`;
  const found = source.objects('DaemonSet').find(({ metadata }) => metadata.name === name);
  return found?.metadata.uid ?? 'nobody';
}

function play(harness: WatcherHarness, action: Step): void {
  const { source } = harness;
  switch (action.kind) {
    case 'node':
      source.put(
        'Node',
        nodeDraft(`n${action.id}`, { spec: { unschedulable: action.variant > 2 } }),
      );
      return;
    case 'daemon-set':
      source.put('DaemonSet', { ...daemonSetDraft(`app${action.id}`), note: action.variant });
      return;
    case 'pod': {
      const state = { app: `app${action.owner}`, ready: action.variant > 2 };
      const isOrphan = action.variant === 0;
      const owner = isOrphan ? {} : { owner: ownerUidOf(harness, action.owner) };
      source.put('Pod', podDraft(`p${action.id}`, { ...state, ...owner }));
      return;
    }
    case 'revision': {
      const owner = ownerUidOf(harness, action.owner);
      source.put('ControllerRevision', revisionDraft(`r${action.id}`, owner));
      return;
    }
    case 'remove': {
      const prefix = { Node: 'n', DaemonSet: 'app', Pod: 'p', ControllerRevision: 'r' }[action.of];
      const names = { name: `${prefix}${action.id}` };
      source.remove(action.of, action.of === 'Node' ? names : { ...names, namespace: 'infra' });
      return;
    }
    case 'compact':
      source.compact(action.of);
      source.endStreams(action.of);
      return;
    case 'request':
      source.editLease((lease) => {
        const annotations = { 'rollcall.dev/snapshot-requested': String(source.version) };
        return { ...lease, metadata: { ...lease.metadata, annotations } };
      });
      return;
    case 'restart':
    case 'wait':
  }
}

/** Its controller, or every DaemonSet that selects it. */
function ownersOf({ source }: WatcherHarness, { metadata }: KubernetesObject): readonly string[] {
  const owner = metadata.ownerReferences?.[0]?.uid;
  if (owner !== undefined) return [owner];
  return source
    .objects('DaemonSet')
    .filter((daemonSet) => daemonSet.metadata.name === metadata.labels?.['app'])
    .map((daemonSet) => daemonSet.metadata.uid);
}

/** uids by DaemonSet set, straight from the cluster. */
function expected(harness: WatcherHarness): Readonly<Record<string, readonly string[]>> {
  const { source } = harness;
  const sets: Record<string, string[]> = { nodes: [] };
  for (const { metadata } of source.objects('DaemonSet')) {
    sets[`pods/${metadata.uid}`] = [];
    sets[`revisions/${metadata.uid}`] = [];
  }
  for (const { metadata } of source.objects('Node')) sets['nodes']?.push(metadata.uid);
  for (const kind of ['Pod', 'ControllerRevision'] as const) {
    const prefix = kind === 'Pod' ? 'pods' : 'revisions';
    for (const object of source.objects(kind)) {
      for (const one of ownersOf(harness, object)) {
        sets[`${prefix}/${one}`]?.push(object.metadata.uid);
      }
    }
  }
  for (const uids of Object.values(sets)) uids.sort();
  return sets;
}

/** The same, as `reconcile` would read it: by names, then slice by slice. */
async function readable(
  ingest: IngestHarness,
  clusterUid: ClusterUid,
): Promise<Record<string, readonly string[]>> {
  const meta = await ingest.view.readMeta(clusterUid);
  assert.equal(meta?.isComplete, true, meta?.incompleteReason);
  assert.deepEqual([meta.isCutOpen, meta.broken, meta.era], [false, 0, 1]);
  const { names } = await ingest.view.listNames(clusterUid, { limit: 100 });
  const sets: Record<string, readonly string[]> = {};
  const read = async (set: 'nodes' | `pods/${string}` | `revisions/${string}`): Promise<void> => {
    const count = set.startsWith('revisions/') ? 1 : meta.sliceCount;
    const uids: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const slice = await ingest.view.readSlice({ clusterUid, set, index });
      assert.ok(slice !== undefined, `${set}#${index} exists`);
      uids.push(...slice.objects.map(({ object }) => object.uid));
    }
    sets[set] = uids.sort();
  };
  await read('nodes');
  for (const { uid } of names) {
    if (uid === null) continue;
    const item = await ingest.view.readDaemonSet({ clusterUid, uid });
    assert.equal(item?.object?.metadata.uid, uid);
    await read(`pods/${uid}`);
    await read(`revisions/${uid}`);
    const position = await readPositionNow({ clusterUid, uid }, ingest.view);
    const latestOf = async (set: SlicedSet, sliceCount: number): Promise<Stamp | undefined> =>
      (
        await Promise.all(
          Array.from({ length: sliceCount }, (_, index) =>
            ingest.view.readSlice({ clusterUid, set, index }),
          ),
        )
      )
        .map((slice) => slice?.stamp)
        .toSorted()
        .at(-1);
    const highest: Record<string, Stamp | undefined> = {
      podsChanged: await latestOf(`pods/${uid}`, meta.sliceCount),
      revisionsChanged: await latestOf(`revisions/${uid}`, 1),
    };
    assert.deepEqual(position, highest, 'a position is the highest stamp of its slices');
  }
  return sets;
}

async function run(steps: readonly Step[], seed: number): Promise<void> {
  const harness = createWatcherHarness({ messageBytesMax: 4096 });
  const clusterUid = harness.source.uid;
  const ingest = new IngestHarness([registrationFor('c1', { clusterUid })]);
  let watcher = await harness.startSettled(seed);
  for (const [index, action] of steps.entries()) {
    play(harness, action);
    if (action.kind === 'restart') {
      await watcher.stop();
      watcher = harness.newWatcher(seed + index + 1);
      await watcher.start();
    }
    if (action.kind === 'wait') await harness.clock.advance(action.ms);
  }
  await harness.clock.advance(60_000);
  await watcher.stop();
  for (const [index, message] of harness.queue.accepted.entries()) {
    if (index % 7 === seed % 7) ingest.restart();
    await ingest.ingest(message);
    if (index % 3 === seed % 3) await ingest.ingest(message);
  }
  assert.deepEqual(await readable(ingest, clusterUid), expected(harness));
}

test('what the real watcher sends, ingest makes readable: the cluster as it is (L1, S8)', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 80, size: 'max' }),
      fc.nat({ max: 1000 }),
      run,
    ),
    {
      numRuns: 100,
    },
  );
});
