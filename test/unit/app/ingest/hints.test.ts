/** Which keys a message wakes (protocol 12, 20; L2), and what is said of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PLACEMENT_RULES } from '../../../../src/core/placement/placement.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf, podOf } from '../../../support/scripted-sender.ts';

async function started(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ cluster: 'c1', epoch: '100' });
  sender.know([daemonSetOf('logs'), daemonSetOf('proxy'), nodeOf('n1')]);
  for (const message of sender.snapshot()) await harness.ingest(message);
  return { harness, sender };
}

function wokenBy(harness: IngestHarness): readonly string[] {
  const lines = harness.queue.hints.map(({ key, reason }) => `${key.name} ${reason}`);
  return lines.toSorted();
}

describe('what a message wakes', () => {
  it('is every DaemonSet for a manifest, and for any change of a node', async () => {
    const { harness, sender } = await started();
    assert.deepEqual(wokenBy(harness), ['logs snapshot', 'proxy snapshot']);
    harness.queue.clear();
    const before = harness.metrics.sum('IngestHints');
    const result = await harness.ingest(sender.changes([nodeOf('n2')]));
    assert.deepEqual(result, { kind: 'applied', hints: 2, isComplete: true });
    assert.equal(harness.metrics.sum('IngestHints') - before, 2, 'each is counted');
    assert.deepEqual(wokenBy(harness), ['logs changed', 'proxy changed']);
  });

  it('is what the watcher names for a change of a node, and what else is in the message (protocol 20)', async () => {
    const { harness, sender } = await started();
    harness.queue.clear();
    const keys = [{ namespace: 'ops', name: 'proxy' }];
    const affected = { rules: PLACEMENT_RULES, keys };
    await harness.ingest(sender.changes([nodeOf('n2'), podOf('p1', ['ds-logs'])], { affected }));
    assert.deepEqual(wokenBy(harness), ['logs changed', 'proxy changed']);
    harness.queue.clear();
    await harness.ingest(sender.changes([nodeOf('n3')], { affected }));
    assert.deepEqual(wokenBy(harness), ['proxy changed']);
  });

  it('is what the watcher named again, when the message comes again', async () => {
    const { harness, sender } = await started();
    const affected = { rules: PLACEMENT_RULES, keys: [{ namespace: 'ops', name: 'proxy' }] };
    const message = sender.changes([nodeOf('n2')], { affected });
    await harness.ingest(message);
    const result = await harness.ingest(message);
    assert.deepEqual(result, { kind: 'duplicate', hints: 1 });
    const [, , last] = harness.queue.sends;
    assert.deepEqual(last?.keys, ['c1/ops/proxy']);
  });

  it('is every DaemonSet where the watcher decides by other rules of placement', async () => {
    const { harness, sender } = await started();
    harness.queue.clear();
    const affected = { rules: PLACEMENT_RULES + 1, keys: [] };
    await harness.ingest(sender.changes([nodeOf('n2')], { affected }));
    assert.deepEqual(wokenBy(harness), ['logs changed', 'proxy changed']);
  });

  it('is nobody for a node that concerns none', async () => {
    const { harness, sender } = await started();
    harness.queue.clear();
    const affected = { rules: PLACEMENT_RULES, keys: [] };
    await harness.ingest(sender.changes([nodeOf('n2')], { affected }));
    assert.deepEqual(harness.queue.sends, []);
  });

  it('is the owner alone for a pod, once for many; none for a set that nobody knows', async () => {
    const { harness, sender } = await started();
    harness.queue.clear();
    const pods = [podOf('p1', ['ds-logs']), podOf('p2', ['ds-logs']), podOf('p3', ['ds-gone'])];
    await harness.ingest(sender.changes(pods));
    assert.deepEqual(
      harness.queue.sends.map(({ keys }) => keys),
      [['c1/ops/logs']],
    );
  });

  it('is nobody for a heartbeat', async () => {
    const { harness, sender } = await started();
    harness.queue.clear();
    const result = await harness.ingest(sender.changes([]));
    assert.equal(result.kind === 'applied' && result.hints, 0);
    assert.deepEqual(harness.queue.sends, [], 'and not even an empty batch is sent');
  });
});

describe('a snapshot is told of', () => {
  it('when it begins and when it closes, with its place in the stream', async () => {
    const { harness } = await started();
    const lines = harness.log.at('info').filter(({ message }) => message.startsWith('snapshot '));
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields['isComplete'], fields['cluster']]),
      [
        ['snapshot announcement', false, 'c1'],
        ['snapshot manifest', true, 'c1'],
      ],
    );
    for (const { fields } of lines) {
      assert.deepEqual(Object.keys(fields).toSorted(), [
        'cluster',
        'epoch',
        'era',
        'incarnation',
        'isComplete',
        'messageId',
        'seq',
      ]);
    }
  });
});
