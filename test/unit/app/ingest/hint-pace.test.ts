/** How many reconciles of a cluster its messages may start side by side (L3, row 61). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

async function started(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ cluster: 'c1', epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1')]);
  for (const message of sender.snapshot()) await harness.ingest(message);
  harness.queue.clear();
  return { harness, sender };
}

describe('hints of ingest', () => {
  it('go at the usual pace while the cluster answers', async () => {
    const { harness, sender } = await started();
    await harness.ingest(sender.changes([nodeOf('n2')]));
    assert.deepEqual(
      harness.queue.sends.map(({ pace }) => pace),
      [undefined],
    );
  });

  it('go through few lanes while it fails, is on parole, or is slow', async () => {
    const { harness, sender } = await started();
    const uid = clusterUid('uid-of-c1');
    const meta = await harness.view.readMeta(uid);
    assert.ok(meta !== undefined);
    await harness.view.writeBreaker(uid, { version: 0, failures: 1, openings: 0 });
    await harness.ingest(sender.changes([nodeOf('n3')]));
    assert.deepEqual(
      harness.queue.sends.map(({ pace }) => pace),
      ['suspect'],
    );
    const after = await harness.view.readMeta(uid);
    assert.equal(after?.breaker?.failures, 1, 'ingest leaves the breaker alone');
  });
});
