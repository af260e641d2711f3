/** Set hashes: a lost change cannot stay hidden (protocol 19). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import {
  ScriptedSender,
  daemonSetOf,
  nodeOf,
  podOf,
  wrongHashes,
} from '../../../support/scripted-sender.ts';

async function settled(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1'), podOf('p1', ['ds-logs'])]);
  await harness.ingestAll(sender.snapshot());
  harness.queue.clear();
  return { harness, sender };
}

function withWrongHashes(message: WatcherMessage): WatcherMessage {
  const { body } = message;
  if (body.kind !== 'changes' || body.cut === undefined) throw new Error('no cut');
  const cut = { ...body.cut, hashes: wrongHashes(body.cut.hashes) };
  return { ...message, body: { ...body, cut } };
}

describe('set hashes (protocol 19)', () => {
  it('are added and subtracted as carried, never recomputed', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([nodeOf('n2'), podOf('p2', ['ds-logs'])], { cut: false }));
    await harness.ingest(sender.changes([nodeOf('n2', 2)], { gone: ['pod-uid-p1'], cut: false }));
    await harness.ingest(sender.changes([], { gone: ['node-uid-n1'], cut: false }));
    const result = await harness.ingest(sender.heartbeat());
    assert.deepEqual(result, { kind: 'applied', hints: 0, isComplete: true });
    assert.deepEqual((await harness.meta()).hashes, sender.cut().hashes);
  });

  it('a cut whose hashes differ makes the view incomplete and asks for a snapshot', async () => {
    const { harness, sender } = await settled();
    const result = await harness.ingest(withWrongHashes(sender.changes([nodeOf('n2')])));
    assert.deepEqual(result, { kind: 'incomplete', reason: 'set-hash' });
    const meta = await harness.meta();
    assert.deepEqual([meta.isComplete, meta.broken], [false, 1]);
    assert.equal(harness.queue.hints.length, 0);
    assert.equal(harness.lease.requests.length, 1);
    const last = await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
  });

  it('only a cut is judged: hashes in the middle of a flush mean nothing', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.changes([nodeOf('n2')], { cut: false }));
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('at most one snapshot an hour because of hashes, then an alarm', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(withWrongHashes(sender.heartbeat()));
    await harness.clock.advance(120_000);
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.requests.length, 1, 'waiting for it is no second one');
    assert.equal(harness.metrics.sum('IngestSetHashAlarms'), 0);
    await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    await harness.ingest(withWrongHashes(sender.heartbeat()));
    assert.equal(harness.lease.requests.length, 1);
    assert.equal(harness.metrics.sum('IngestSetHashAlarms'), 1);
    assert.equal((await harness.meta()).isComplete, false);
    await harness.ingestAll(sender.snapshot({ reason: 'periodic' }));
    await harness.clock.advance(3_600_000);
    await harness.ingest(withWrongHashes(sender.heartbeat()));
    assert.equal(harness.lease.requests.length, 2);
  });
});
