/** Order of messages, epochs and eras: what is applied, what is left aside, what is a loss. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { IngestHarness, registrationFor } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

const WORLD = [daemonSetOf('logs'), nodeOf('n1')];

function senderOf(epoch: string, incarnation?: string): ScriptedSender {
  const sender = new ScriptedSender(incarnation === undefined ? { epoch } : { epoch, incarnation });
  sender.know(WORLD);
  return sender;
}

async function settled(
  authentication: 'none' | 'bearer' = 'bearer',
): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness(
    authentication === 'none'
      ? [registrationFor('c1', { authentication: { kind: 'none' } })]
      : undefined,
  );
  const sender = senderOf('1000');
  harness.lease.holder = 'i-1000';
  await harness.ingestAll(sender.snapshot());
  harness.queue.clear();
  return { harness, sender };
}

describe('order of messages (protocol 14)', () => {
  it('row 83: a skipped seq makes the view incomplete first, and nothing acts on what follows', async () => {
    const { harness, sender } = await settled();
    const lost = sender.changes([nodeOf('n2')]);
    assert.equal(lost.seq, 4);
    const next = await harness.ingest(sender.changes([nodeOf('n3')]));
    assert.deepEqual(next, { kind: 'incomplete', reason: 'seq-skipped' });
    const meta = await harness.meta();
    assert.deepEqual([meta.isComplete, meta.broken, meta.seq], [false, 1, 5]);
    assert.deepEqual(await harness.namesIn('nodes'), ['n1'], 'its content is left aside');
    assert.equal(harness.queue.hints.length, 0);
    assert.equal(harness.lease.requests.length, 1, 'a snapshot is asked for');
    const after = await harness.ingest(sender.changes([nodeOf('n4')]));
    assert.deepEqual(after, { kind: 'awaiting-snapshot' });
    assert.deepEqual(await harness.namesIn('nodes'), ['n1']);
    const slices = await harness.ingest(sender.slices());
    assert.deepEqual(slices, { kind: 'awaiting-snapshot' }, 'not announced after the loss');
    const last = await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
    assert.deepEqual(await harness.namesIn('nodes'), ['n1', 'n2', 'n3', 'n4']);
  });

  it('an announcement after a gap is the way back itself', async () => {
    const { harness, sender } = await settled();
    sender.seq += 3;
    const result = await harness.ingest(sender.announce({ reason: 'periodic' }));
    assert.deepEqual(result, { kind: 'applied', hints: 0, isComplete: false });
    const last = await harness.ingestAll([sender.slices(), sender.manifest()]);
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
  });

  it('protocol 17: asks for a snapshot at most once a minute', async () => {
    const { harness, sender } = await settled();
    sender.seq += 1;
    for (let count = 0; count < 5; count += 1) await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.requests.length, 1);
    await harness.clock.advance(61_000);
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.requests.length, 2);
    assert.notEqual(harness.lease.requests[0], harness.lease.requests[1]);
  });

  it('protocol 17: asks although a clock that was ahead noted the request before', async () => {
    const { harness, sender } = await settled();
    const meta = await harness.meta();
    const aheadMs = harness.clock.nowMs() + 3_600_000;
    await harness.view.writeMeta({ ...meta, snapshotRequestedAtMs: aheadMs });
    sender.seq += 1;
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.requests.length, 1);
  });

  it('failing to ask for a snapshot fails nothing', async () => {
    const { harness, sender } = await settled();
    harness.lease.isReachable = false;
    sender.seq += 1;
    const result = await harness.ingest(sender.heartbeat());
    assert.deepEqual(result, { kind: 'incomplete', reason: 'seq-skipped' });
    assert.notEqual((await harness.meta()).snapshotRequestedAtMs, undefined);
  });

  it('an epoch whose announcement is missing is a loss, not a view', async () => {
    const { harness } = await settled();
    const next = senderOf('2000');
    next.announce();
    const result = await harness.ingest(next.slices());
    assert.deepEqual(result, { kind: 'incomplete', reason: 'new-epoch' });
    assert.equal((await harness.meta()).epoch, '2000');
    const fresh = new IngestHarness();
    const first = await fresh.ingest(senderOf('5').heartbeat());
    assert.deepEqual(first, { kind: 'incomplete', reason: 'new-cluster' });
  });

  it('epochs are compared as whole numbers (KEP-5504)', async () => {
    const { harness } = await settled();
    const next = senderOf('10000');
    assert.equal((await harness.ingestAll(next.snapshot())).kind, 'applied');
    const large = senderOf('9'.repeat(39));
    assert.equal((await harness.ingestAll(large.snapshot())).kind, 'applied');
    const { stamp } = (await harness.slice('nodes')) ?? {};
    await harness.ingest(large.changes([nodeOf('n9')]));
    const after = await harness.slice('nodes');
    assert.ok(stamp !== undefined && after !== undefined && after.stamp > stamp);
  });
});

describe('epochs (row 72)', () => {
  it('a new watcher is accepted, the one it overtook is left aside from then on', async () => {
    const { harness, sender } = await settled();
    const next = senderOf('2000');
    harness.lease.holder = 'i-2000';
    await harness.ingest(next.announce());
    assert.equal((await harness.meta()).isComplete, false, 'first of all');
    const late = await harness.ingest(sender.changes([nodeOf('zombie')]));
    assert.deepEqual(late, { kind: 'stale-epoch' });
    await harness.ingestAll([next.slices(), next.manifest()]);
    const later = await harness.ingest(sender.changes([nodeOf('zombie', 2)]));
    assert.deepEqual(later, { kind: 'stale-epoch' });
    assert.deepEqual(await harness.namesIn('nodes'), ['n1']);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('row 80: marks of an overtaken watcher vouch for nothing', async () => {
    const { harness, sender } = await settled();
    const next = senderOf('1001');
    harness.lease.holder = 'i-1001';
    await harness.ingest(next.announce());
    await harness.ingest(sender.heartbeat({ ...sender.marks, Pod: resourceVersion('1100') }));
    await harness.ingestAll([next.slices(), next.manifest()]);
    assert.equal((await harness.meta()).marks.Pod, '100');
    assert.equal((await harness.meta()).era, 1);
  });

  it('the Lease is read at most once in ten seconds for one overtaken watcher', async () => {
    const { harness, sender } = await settled();
    harness.lease.holder = 'i-2000';
    await harness.ingestAll(senderOf('2000').snapshot());
    for (let count = 0; count < 5; count += 1) await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.reads, 1);
    await harness.clock.advance(11_000);
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.reads, 2);
  });

  it('an announcement that meets that limit comes again instead of being dropped', async () => {
    const { harness } = await settled();
    harness.lease.holder = 'i-400';
    await harness.ingest(senderOf('300').heartbeat());
    const announcement = senderOf('400').announce();
    const first = await harness.ingest(announcement);
    assert.deepEqual(first, { kind: 'deferred', reason: 'lease-check-limited' });
    await harness.clock.advance(1_500);
    assert.equal((await harness.ingest(announcement)).kind, 'applied');
    assert.equal((await harness.meta()).era, 2);
  });
});

describe('eras (row 71, protocol 15)', () => {
  it('a lower epoch that the Lease names begins a new era; older marks are void', async () => {
    const { harness, sender } = await settled();
    await harness.ingest(sender.heartbeat({ ...sender.marks, Pod: resourceVersion('5000') }));
    const restored = senderOf('600');
    harness.lease.holder = 'i-600';
    const first = await harness.ingest(restored.announce({ reason: 'start' }));
    assert.deepEqual(first, { kind: 'applied', hints: 0, isComplete: false });
    const during = await harness.meta();
    assert.deepEqual([during.era, during.epoch, during.marks], [2, '600', {}]);
    const last = await harness.ingestAll([restored.slices(), restored.manifest()]);
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
    assert.equal((await harness.meta()).marks.Pod, '100');
    const next = await harness.ingest(restored.changes([nodeOf('n2')]));
    assert.equal(next.kind, 'applied');
    assert.deepEqual(await harness.namesIn('nodes'), ['n1', 'n2']);
    assert.ok((await harness.slice('nodes'))?.stamp.startsWith('000002.'));
  });

  it('the same epoch under another incarnation is judged by the Lease, too', async () => {
    const { harness } = await settled();
    const twin = senderOf('1000', 'twin');
    assert.deepEqual(await harness.ingest(twin.announce()), { kind: 'stale-epoch' });
    harness.lease.holder = 'twin';
    await harness.clock.advance(11_000);
    assert.equal((await harness.ingestAll(twin.snapshot())).kind, 'applied');
    assert.equal((await harness.meta()).era, 2);
  });

  it('a lower epoch whose announcement is missing is a loss in the new era', async () => {
    const { harness } = await settled();
    const restored = senderOf('600');
    harness.lease.holder = 'i-600';
    restored.announce();
    const result = await harness.ingest(restored.slices());
    assert.deepEqual(result, { kind: 'incomplete', reason: 'restored' });
    assert.deepEqual([(await harness.meta()).era, (await harness.meta()).isComplete], [2, false]);
    assert.equal(harness.lease.requests.length, 1);
  });

  it('an unreadable Lease accepts nobody; an announcement comes again, for a minute', async () => {
    const { harness } = await settled();
    harness.lease.holder = 'i-600';
    harness.lease.isReachable = false;
    const announcement = senderOf('600').announce();
    const context = { sentAtMs: harness.clock.nowMs() };
    const first = await harness.ingest(announcement, context);
    assert.equal(first.kind, 'deferred');
    await harness.clock.advance(60_000);
    assert.deepEqual(await harness.ingest(announcement, context), { kind: 'stale-epoch' });
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('without a credential ten minutes of silence of the stored epoch decide', async () => {
    const { harness } = await settled('none');
    const restored = senderOf('600');
    assert.deepEqual(await harness.ingest(restored.announce()), { kind: 'stale-epoch' });
    await harness.clock.advance(1_020_000);
    restored.seq = 0;
    const result = await harness.ingestAll(restored.snapshot());
    assert.deepEqual(result, { kind: 'applied', hints: 1, isComplete: true });
    assert.equal((await harness.meta()).era, 2);
    assert.equal(harness.lease.reads, 0);
  });

  it('without a credential a backlog is no silence: what was sent meanwhile counts, not when it arrives', async () => {
    const { harness } = await settled('none');
    const overtaken = senderOf('600');
    const context = { sentAtMs: harness.clock.nowMs() + 1_000 };
    await harness.clock.advance(1_020_000);
    assert.deepEqual(await harness.ingest(overtaken.announce(), context), { kind: 'stale-epoch' });
    assert.equal((await harness.meta()).era, 1);
  });

  it('the reason `restored` begins a new era also with a higher epoch', async () => {
    const { harness } = await settled();
    const restored = senderOf('2000');
    await harness.ingest(restored.announce({ reason: 'restored' }));
    assert.equal((await harness.meta()).era, 2);
    await harness.ingestAll([restored.slices(), restored.manifest()]);
    assert.equal((await harness.meta()).era, 2);
    assert.equal((await harness.meta()).isComplete, true);
  });

  it('a manifest with lower marks than stored begins a new era, if the Lease confirms', async () => {
    for (const [holder, era, isComplete] of [
      ['i-2000', 2, true],
      ['somebody', 1, false],
    ] as const) {
      const { harness, sender } = await settled();
      await harness.ingest(sender.heartbeat({ ...sender.marks, Pod: resourceVersion('5000') }));
      harness.lease.holder = holder;
      await harness.ingestAll(senderOf('2000').snapshot());
      const meta = await harness.meta();
      assert.deepEqual([meta.era, meta.isComplete], [era, isComplete]);
      if (isComplete) assert.equal(meta.marks.Pod, '100');
      else assert.equal(meta.incompleteReason, 'era-unconfirmed');
    }
  });
});
