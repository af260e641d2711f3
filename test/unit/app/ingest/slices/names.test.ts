/** Names of DaemonSets: none is lost by number, by page or by message (protocol 20, L1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listAllNames, namesOf } from '../../../../../src/app/ingest/slices/names.ts';
import {
  createIngestProcessCache,
  IngestProcessCache,
} from '../../../../../src/app/ingest/process/dependencies.ts';
import { clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { Slice } from '../../../../../src/core/model/view-items.ts';
import { IngestHarness } from '../../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../../support/scripted-sender.ts';
import { sliceOf, stampAt } from '../../../../support/store-suite.ts';

const CLUSTER = clusterUid('uid-of-c1');

async function started(count: number): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ cluster: 'c1', epoch: '100' });
  sender.know(Array.from({ length: count }, (_, index) => daemonSetOf(`d${index}`)));
  for (const message of sender.snapshot()) await harness.ingest(message);
  return { harness, sender };
}

async function namesIn(harness: IngestHarness): Promise<readonly string[]> {
  const items = await listAllNames(CLUSTER, harness.dependencies(), false);
  return items.map(({ name, uid }) => `${name} ${uid ?? 'gone'}`).toSorted();
}

describe('names of a cluster', () => {
  it('are all there, on however many pages: a change of a node wakes each (L1)', async () => {
    const { harness, sender } = await started(501);
    assert.equal(new Set(await namesIn(harness)).size, 501);
    harness.restart();
    const result = await harness.ingest(sender.changes([nodeOf('n1')]));
    assert.deepEqual(result, { kind: 'applied', hints: 501, isComplete: true });
  });

  it('of several DaemonSets in one message are one each, whether they come or go', async () => {
    const { harness, sender } = await started(0);
    await harness.ingest(sender.changes([daemonSetOf('a'), daemonSetOf('b'), daemonSetOf('c')]));
    assert.deepEqual(await namesIn(harness), ['a ds-a', 'b ds-b', 'c ds-c']);
    await harness.ingest(sender.changes([], { gone: ['ds-a', 'ds-c'] }));
    assert.deepEqual(await namesIn(harness), ['b ds-b']);
  });

  it('of one that is made again in the same message stand for the new one', async () => {
    const { harness, sender } = await started(0);
    await harness.ingest(sender.changes([daemonSetOf('a')]));
    await harness.ingest(sender.changes([daemonSetOf('a', 2, 'ds-new')], { gone: ['ds-a'] }));
    assert.deepEqual(await namesIn(harness), ['a ds-new']);
    const old = await harness.view.readDaemonSet(harness.ref('ds-a'));
    assert.equal(old?.object, null, 'and nothing is made of the old one');
  });

  it('are remembered until META says that the list has changed, and not longer', async () => {
    const { harness, sender } = await started(2);
    let lists = 0;
    harness.view.hooks.before = ({ operation }) => {
      if (operation === 'listNames') lists += 1;
    };
    const dependencies = { ...harness.dependencies(), processCache: createIngestProcessCache() };
    const before = await harness.meta();
    await namesOf(before, dependencies);
    const again = await namesOf(before, dependencies);
    assert.deepEqual([again.byUid.size, lists], [2, 1]);
    await harness.ingest(sender.changes([daemonSetOf('late')]));
    lists = 0;
    const after = await namesOf(await harness.meta(), dependencies);
    assert.deepEqual([after.byUid.size, lists], [3, 1]);
  });
});

describe('slices that a process remembers', () => {
  const ref = (index: number): Parameters<IngestProcessCache['slice']>[0] => ({
    clusterUid: CLUSTER,
    set: 'nodes',
    index,
  });
  const slice = (count: number): Slice => sliceOf(stampAt(1), count);
  const kept = (processCache: IngestProcessCache): readonly number[] =>
    [0, 1, 2, 3].filter((index) => processCache.slice(ref(index)) !== undefined);

  it('are bounded by their objects, one more for each: the oldest go', () => {
    const processCache = new IngestProcessCache(12);
    processCache.keepSlice(ref(0), slice(3));
    processCache.keepSlice(ref(1), slice(3));
    processCache.keepSlice(ref(2), slice(3));
    assert.deepEqual(kept(processCache), [0, 1, 2]);
    processCache.keepSlice(ref(3), slice(0));
    assert.deepEqual(kept(processCache), [1, 2, 3]);
    processCache.keepSlice(ref(0), slice(8));
    assert.deepEqual(kept(processCache), [0, 3], 'as many as it takes');
  });

  it('count once, however often they are read, and not at all once forgotten', () => {
    const processCache = new IngestProcessCache(12);
    for (let read = 0; read < 5; read += 1) processCache.keepSlice(ref(0), slice(5));
    processCache.keepSlice(ref(1), slice(5));
    assert.deepEqual(kept(processCache), [0, 1]);
    processCache.keepSlice(ref(0), undefined);
    processCache.keepSlice(ref(2), slice(5));
    assert.deepEqual(kept(processCache), [1, 2]);
  });
});
