/** What does not belong to the snapshot that was announced makes the view incomplete (protocol 16, 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

async function announced(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ cluster: 'c1', epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1'), nodeOf('n2'), nodeOf('n3')]);
  await harness.ingest(sender.announce({ sliceCount: 4 }));
  return { harness, sender };
}

describe('a snapshot', () => {
  it('has no slice at or beyond its slice count', async () => {
    for (const [index, kind] of [
      [3, 'applied'],
      [4, 'incomplete'],
    ] as const) {
      const { harness, sender } = await announced();
      const slices = [{ set: 'nodes' as const, index, objects: [] }];
      const result = await harness.ingest(sender.message({ kind: 'slices', slices }));
      assert.equal(result.kind, kind, `slice ${index} of 4`);
      if (kind === 'applied') continue;
      assert.deepEqual(result, { kind, reason: 'snapshot-broken' });
      assert.equal(harness.metrics.sum('ViewLosses', 'snapshot-broken'), 1);
      const [line] = harness.log.at('warn');
      assert.deepEqual(
        [line?.message, line?.fields['reason']],
        ['view incomplete', 'snapshot-broken'],
      );
    }
  });

  it('is closed by its own manifest alone: of its announcement, and of its slice count', async () => {
    for (const change of [{ announcedSeq: 7 }, { sliceCount: 16 }]) {
      const { harness, sender } = await announced();
      await harness.ingest(sender.slices());
      const result = await harness.ingest(sender.manifest(change));
      assert.deepEqual(result, { kind: 'incomplete', reason: 'snapshot-broken' });
      assert.equal((await harness.meta()).isComplete, false);
    }
    const { harness, sender } = await announced();
    await harness.ingest(sender.slices());
    assert.equal((await harness.ingest(sender.manifest())).kind, 'applied');
    assert.equal(harness.metrics.sum('IngestMessages', 'applied'), 3, 'each message is counted');
  });

  it('that shrinks leaves nothing in the slices beyond its new count', async () => {
    const { harness, sender } = await announced();
    await harness.ingestAll([sender.slices(), sender.manifest()]);
    await harness.ingestAll(sender.snapshot({ sliceCount: 1, reason: 'periodic' }));
    assert.deepEqual(await harness.namesIn('nodes', 0), ['n1', 'n2', 'n3']);
    for (const index of [1, 2, 3]) assert.deepEqual(await harness.namesIn('nodes', index), []);
  });
});
