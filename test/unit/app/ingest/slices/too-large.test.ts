/** A.7, protocol 22: what is too large for the table affects its own set, never the whole view. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { Slice } from '../../../../../src/core/model/view-items.ts';
import { encodeBody } from '../../../../../src/adapters/dynamodb/item-codec.ts';
import { thinnedOut } from '../../../../../src/app/ingest/slices/too-large.ts';
import { IngestHarness } from '../../../../support/ingest-harness.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../../support/scripted-sender.ts';
import type { Standing } from '../../../../support/scripted-sender.ts';

const BYTES_MAX = 4000;

function limit({ view }: IngestHarness): void {
  const fits = (value: unknown): boolean => JSON.stringify(value).length <= BYTES_MAX;
  const refusal = Object.assign(new Error('too large'), { code: 'item-too-large' });
  const slice = view.writeSlice.bind(view);
  view.writeSlice = (ref, item, expected) =>
    fits(item.objects) ? slice(ref, item, expected) : Promise.reject(refusal);
  const daemonSet = view.writeDaemonSet.bind(view);
  view.writeDaemonSet = (ref, item) =>
    fits(item.object) ? daemonSet(ref, item) : Promise.reject(refusal);
}

function wide(standing: Standing, chars: number): Standing {
  const { object, sets } = standing;
  if (object.kind === 'Pod') {
    return { object: { ...object, labels: { wide: 'x'.repeat(chars) } }, sets };
  }
  assert.ok(object.kind === 'DaemonSet');
  const spec = { template: { wide: 'x'.repeat(chars) } } as never; // what is in it is nobody's concern here
  return { object: { ...object, object: { ...object.object, spec } }, sets };
}

async function scene(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '100' });
  sender.know([daemonSetOf('logs'), daemonSetOf('other'), nodeOf('n1')]);
  await harness.ingestAll(sender.snapshot());
  limit(harness);
  return { harness, sender };
}

const kindsIn = (slice: Slice | undefined): readonly string[] =>
  (slice?.objects ?? []).map(({ object }) => `${object.name} ${object.kind}`).toSorted();

describe('protocol 22: a DaemonSet that is too large for its item (A.7)', () => {
  it('is noted as opaque, and everything else of the cluster goes on', async () => {
    const { harness, sender } = await scene();
    const big = wide(daemonSetOf('logs', 2), 5000);
    const result = await harness.ingest(
      sender.changes([big, daemonSetOf('other', 2), podOf('p1', ['ds-other'])]),
    );
    assert.deepEqual(result, { kind: 'applied', hints: 2, isComplete: true });
    const stored = await harness.view.readDaemonSet(harness.ref('ds-logs'));
    assert.deepEqual([stored?.object, stored?.opaqueReason], [null, 'too-large']);
    const other = await harness.view.readDaemonSet(harness.ref('ds-other'));
    assert.equal(other?.object?.metadata.generation, 2);
    assert.deepEqual(await harness.namesIn('pods/ds-other'), ['p1']);
    assert.equal(harness.metrics.sum('IngestItemsTooLarge', 'daemonset'), 1);
    assert.equal(harness.lease.requests.length, 0, 'no snapshot is needed');
    // The set hashes are those of what was sent.
    assert.equal((await harness.ingest(sender.heartbeat())).kind, 'applied');
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('is one in a snapshot, too, and whole again once it fits', async () => {
    const { harness, sender } = await scene();
    sender.know([wide(daemonSetOf('logs', 2), 5000)]);
    const result = await harness.ingestAll(sender.snapshot());
    assert.equal(result.kind === 'applied' && result.isComplete, true);
    await harness.ingest(sender.changes([daemonSetOf('logs', 3)]));
    const stored = await harness.view.readDaemonSet(harness.ref('ds-logs'));
    assert.equal(stored?.object?.metadata.generation, 3);
    assert.equal(stored.opaqueReason, undefined);
  });
});

describe('A.7: a slice that is too large for its item', () => {
  it('keeps its smaller objects; the larger ones are opaque there, and the view stays whole', async () => {
    const { harness, sender } = await scene();
    await harness.ingest(sender.changes([wide(podOf('a', ['ds-logs']), 1500)]));
    const grown = [wide(podOf('b', ['ds-logs']), 1600), wide(podOf('c', ['ds-logs']), 1700)];
    const result = await harness.ingest(sender.changes([...grown, podOf('p1', ['ds-other'])]));
    assert.deepEqual(result, { kind: 'applied', hints: 2, isComplete: true });
    const slice = await harness.slice('pods/ds-logs');
    assert.deepEqual(kindsIn(slice), ['a Pod', 'b Opaque', 'c Opaque']);
    assert.equal(slice?.objects.find(({ object }) => object.name === 'c')?.object.uid, 'pod-uid-c');
    assert.deepEqual(kindsIn(await harness.slice('pods/ds-other')), ['p1 Pod']);
    assert.equal(harness.metrics.sum('IngestItemsTooLarge', 'slice'), 1);
    assert.equal(harness.lease.requests.length, 0);
    assert.equal((await harness.ingest(sender.heartbeat())).kind, 'applied');
    const after = await harness.ingest(sender.changes([], { gone: ['pod-uid-b', 'pod-uid-c'] }));
    assert.deepEqual(after, { kind: 'applied', hints: 1, isComplete: true });
    assert.deepEqual(kindsIn(await harness.slice('pods/ds-logs')), ['a Pod']);
  });

  it('is thinned out in a snapshot as well, whose hashes are those that were sent', async () => {
    const { harness, sender } = await scene();
    sender.know(['a', 'b', 'c'].map((name) => wide(podOf(name, ['ds-logs']), 1500)));
    const result = await harness.ingestAll(sender.snapshot());
    assert.equal(result.kind === 'applied' && result.isComplete, true);
    const kinds = kindsIn(await harness.slice('pods/ds-logs'));
    assert.equal(kinds.filter((text) => text.endsWith('Opaque')).length, 2);
  });

  it('ends: each step takes the larger half, and of opaque ones there is nothing to take', () => {
    const entry = (name: string, chars: number): Slice['objects'][number] => ({
      object: wide(podOf(name, ['ds-logs']), chars).object,
      hash: chars,
    });
    let objects: Slice['objects'] | undefined = [entry('a', 3), entry('b', 2), entry('c', 1)];
    const opaque: number[] = [];
    while (objects !== undefined) {
      opaque.push(objects.filter(({ object }) => object.kind === 'Opaque').length);
      assert.deepEqual(
        objects.map(({ hash }) => hash),
        [3, 2, 1],
      );
      objects = thinnedOut(objects);
    }
    assert.deepEqual(opaque, [0, 2, 3]);
  });

  it('fits at the limits: 1,000 opaque objects of 253 characters, of sixteen slices of 16,000 nodes', () => {
    const random = seededRandom(7);
    const noise = (chars: number): string => {
      let text = '';
      while (text.length < chars) text += random.uniqueId().replaceAll('-', '');
      return text.slice(0, chars);
    };
    const object = (): Slice['objects'][number] => ({
      hash: Math.floor(random.next() * 2 ** 48),
      object: {
        kind: 'Opaque',
        of: 'Pod',
        namespace: 'n'.repeat(63),
        name: noise(253),
        uid: uid(random.uniqueId()),
        resourceVersion: resourceVersion('1234567890123'),
        reason: 'too-large',
      },
    });
    const body = encodeBody({ pk: 'PODS', sk: 'SLICE' }, Array.from({ length: 1000 }, object));
    assert.ok(body.byteLength < 300_000, `${body.byteLength} bytes`);
  });
});

describe('A.7: what cannot even be stored opaque', () => {
  it('is a loss of the view, as before: nothing else can be said of it', async () => {
    const { harness, sender } = await scene();
    const cluster = clusterUid('uid-of-c1');
    const crowd = Array.from({ length: 60 }, (_, index) => podOf(`p${index}`, ['ds-logs']));
    const result = await harness.ingest(sender.changes(crowd));
    assert.deepEqual(result, { kind: 'incomplete', reason: 'item-too-large' });
    assert.equal((await harness.view.readMeta(cluster))?.isComplete, false);
  });
});
