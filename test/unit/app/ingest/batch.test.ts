/** Batches of events.fifo: one message at a time, groups apart, poison quarantined. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { ingestBatch, type IngestRecord } from '../../../../src/app/ingest/ingest-batch.ts';
import { IngestHarness, contentOf, registrationFor } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

const TWO = [registrationFor('c1'), registrationFor('c2')];

function senderOf(cluster: string): ScriptedSender {
  const sender = new ScriptedSender({ cluster, epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1')]);
  return sender;
}

function recordOf(harness: IngestHarness, message: WatcherMessage): IngestRecord {
  const messageId = `${message.cluster}-${message.seq}`;
  return {
    context: harness.context({ messageId, groupId: message.cluster }),
    header: message,
    parsed: { kind: 'message', message },
  };
}

describe('a batch', () => {
  it('protocol 20: stops a group at its first failure; other clusters go on (L3)', async () => {
    const harness = new IngestHarness(TWO);
    const [first, second] = [senderOf('c1'), senderOf('c2')];
    const messages = [...first.snapshot(), ...second.snapshot()];
    const records = messages.map((message) => recordOf(harness, message));
    let metaWrites = 0;
    harness.view.hooks.before = ({ operation, target }) => {
      if (operation !== 'writeMeta' || !target.includes('c1')) return;
      metaWrites += 1;
      if (metaWrites === 2) throw new Error('throttled');
    };
    const result = await ingestBatch(records, harness.dependencies());
    assert.deepEqual(result.failedMessageIds, ['c1-2', 'c1-3']);
    assert.equal(result.results.get('c2-3')?.kind, 'applied');
    assert.equal((await harness.meta('c2')).isComplete, true);
    assert.equal((await harness.meta('c1')).seq, 1);
    assert.equal(harness.log.at('error').length, 1, 'one line');
    harness.view.hooks = {};
    const again = await ingestBatch(records, harness.dependencies());
    assert.deepEqual(again.failedMessageIds, []);
    const wanted = new IngestHarness(TWO);
    await wanted.ingestAll([...senderOf('c1').snapshot(), ...senderOf('c2').snapshot()]);
    assert.deepEqual(contentOf(harness.view), contentOf(wanted.view));
  });

  it('row 69: says what it failed by, also where several calls of a stage fail at once', async () => {
    const harness = new IngestHarness(TWO);
    const refusal = new Error('no right to put');
    const sender = senderOf('c1');
    sender.know([daemonSetOf('metrics')]);
    const records = sender.snapshot().map((message) => recordOf(harness, message));
    harness.view.hooks.before = ({ operation }) => {
      if (operation === 'writeDaemonSet') throw refusal;
    };
    const { failedMessageIds } = await ingestBatch(records, harness.dependencies());
    assert.ok(failedMessageIds.length > 0);
    const [line] = harness.log.at('error');
    assert.ok(line?.cause instanceof AggregateError);
    assert.equal(line.cause.errors.length, 2);
    assert.equal(line.cause.cause, refusal, 'what a log shows of it');
  });

  it('protocol 23: poison is finished by code and stops nobody', async () => {
    const harness = new IngestHarness(TWO);
    const sender = senderOf('c1');
    const records: IngestRecord[] = [
      {
        context: harness.context({ messageId: 'poison', groupId: 'c1' }),
        header: {},
        parsed: { kind: 'refused', code: 'undecodable', field: '', header: {} },
      },
      recordOf(harness, { ...sender.announce(), cluster: 'nobody' as never }),
      recordOf(harness, { ...senderOf('c2').announce(), clusterUid: 'x' as never }),
      ...senderOf('c1')
        .snapshot()
        .map((message) => recordOf(harness, message)),
    ];
    const result = await ingestBatch(records, harness.dependencies());
    assert.deepEqual(result.failedMessageIds, []);
    assert.equal((await harness.meta('c1')).isComplete, true);
    assert.equal(harness.log.at('warn').length, 3, 'one line each');
    assert.equal(harness.registry.refusals.size, 3);
  });

  it('A.8: an API server that hangs holds the batch for three seconds, not for its time-outs (L3, row 61)', async () => {
    for (const trouble of ['a loss', 'an older epoch'] as const) {
      const harness = new IngestHarness(TWO);
      const [first, second] = [senderOf('c1'), senderOf('c2')];
      await harness.ingestAll([...first.snapshot(), ...second.snapshot()]);
      harness.lease.connect = () => new Promise(() => undefined);
      if (trouble === 'a loss') first.seq += 5;
      const older = new ScriptedSender({ cluster: 'c1', epoch: '50' });
      const troubling = trouble === 'a loss' ? first.heartbeat() : older.announce();
      const records = [troubling, second.heartbeat()].map((one) => recordOf(harness, one));
      let isOver = false;
      const batch = ingestBatch(records, harness.dependencies());
      void batch.then(() => (isOver = true));
      await harness.clock.advance(3_000);
      assert.ok(isOver, trouble);
      const { results } = await batch;
      assert.equal(results.get(String(records[1]?.context.messageId))?.kind, 'applied');
      assert.equal(harness.clock.pendingTimers, 0);
    }
  });

  for (const hanging of [1, 3]) {
    it(`A.8: ${hanging} of ten API servers that hang delay no record, and are waited for three seconds in all`, async () => {
      const clusters = Array.from({ length: 10 }, (_, index) => `c${index}`);
      const harness = new IngestHarness(clusters.map((cluster) => registrationFor(cluster)));
      const senders = clusters.map((cluster) => senderOf(cluster));
      for (const sender of senders) await harness.ingestAll(sender.snapshot());
      const connect = harness.lease.connect.bind(harness.lease);
      harness.lease.connect = (registration) =>
        clusters.indexOf(registration.id) < hanging
          ? new Promise(() => undefined)
          : connect(registration);
      // A gap is a loss, after which a snapshot is asked for; what follows in the group is not held by it.
      for (const sender of senders.slice(0, hanging)) sender.seq += 5;
      const records = senders.flatMap((sender) =>
        [sender.changes([daemonSetOf('logs', 2)]), sender.heartbeat(), sender.heartbeat()].map(
          (one) => recordOf(harness, one),
        ),
      );
      harness.queue.hints.length = 0;
      let isOver = false;
      const batch = ingestBatch(records, harness.dependencies());
      void batch.then(() => (isOver = true));
      await harness.clock.advance(0);
      const last = senders.map(({ seq }) => seq);
      const seen = await Promise.all(clusters.map((cluster) => harness.meta(cluster)));
      assert.deepEqual(
        seen.map(({ seq }) => seq),
        last,
        'every record is applied before any time has passed',
      );
      assert.equal(harness.queue.hints.length, 10 - hanging, 'and its hints are sent');
      assert.equal(isOver, false, 'what was begun is awaited: the process may be frozen');
      await harness.clock.advance(3_000);
      assert.ok(isOver, 'one bound for all of them');
      assert.deepEqual((await batch).failedMessageIds, []);
      assert.equal(harness.metrics.sum('SnapshotRequests', 'unavailable'), hanging);
      assert.equal(harness.clock.pendingTimers, 0);
    });
  }

  it('A.8: a request that is begun later in a batch has what is left of the three seconds, and its failure is told', async () => {
    const harness = new IngestHarness(TWO);
    const [first, second] = [senderOf('c1'), senderOf('c2')];
    await harness.ingestAll([...first.snapshot(), ...second.snapshot()]);
    harness.lease.connect = ({ id }) =>
      id === 'c1' ? new Promise(() => undefined) : Promise.reject(new Error('a bug'));
    first.seq += 5;
    second.seq += 5;
    const records = [first.heartbeat(), second.heartbeat()].map((one) => recordOf(harness, one));
    harness.view.hooks.before = async ({ operation, target }) => {
      if (operation === 'writeMeta' && target.includes('c2')) await harness.clock.sleep(2_000);
    };
    let isOver = false;
    const batch = ingestBatch(records, harness.dependencies());
    void batch.then(() => (isOver = true));
    await harness.clock.advance(3_000);
    assert.ok(isOver);
    assert.deepEqual((await batch).failedMessageIds, [], 'resync asks again');
    assert.equal(harness.log.at('error').length, 1);
  });

  it('A.8: asks nothing of a cluster whose breaker is open, and leaves the asking to resync', async () => {
    const harness = new IngestHarness();
    const sender = senderOf('c1');
    await harness.ingestAll(sender.snapshot());
    const open = { untilMs: harness.clock.nowMs() + 5_000, delayMs: 5_000 };
    const breaker = { version: 0, failures: 0, openings: 1, open };
    const { clusterUid: cluster } = await harness.meta();
    assert.equal(await harness.view.writeBreaker(cluster, breaker), 'written');
    sender.seq += 5;
    await harness.ingest(sender.heartbeat());
    await harness.ingest(new ScriptedSender({ epoch: '50' }).announce());
    assert.deepEqual([harness.lease.requests, harness.lease.reads], [[], 0]);
    const meta = await harness.meta();
    assert.deepEqual([meta.isComplete, meta.snapshotRequestedAtMs], [false, undefined]);
    await harness.clock.advance(5_000);
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.lease.requests.length, 1, 'asked as soon as it may answer');
  });

  it('a deferred record and what follows it come again', async () => {
    const harness = new IngestHarness();
    await harness.ingestAll(senderOf('c1').snapshot());
    const older = new ScriptedSender({ epoch: '50' });
    await harness.ingest(new ScriptedSender({ epoch: '40' }).heartbeat());
    const records = older.snapshot().map((message) => recordOf(harness, message));
    const result = await ingestBatch(records, harness.dependencies());
    assert.deepEqual(result.failedMessageIds, ['c1-1', 'c1-2', 'c1-3']);
    assert.equal(result.results.get('c1-1')?.kind, 'deferred');
  });

  it('records without a group id are grouped by the cluster that they name', async () => {
    const harness = new IngestHarness(TWO);
    const records = [...senderOf('c1').snapshot(), ...senderOf('c2').snapshot()].map((message) => {
      const record = recordOf(harness, message);
      const { groupId: _groupId, ...context } = record.context;
      return { ...record, context };
    });
    const result = await ingestBatch(records, harness.dependencies());
    assert.deepEqual(result.failedMessageIds, []);
    assert.equal((await harness.meta('c2')).isComplete, true);
  });

  it('an empty batch is nothing', async () => {
    const result = await ingestBatch([], new IngestHarness().dependencies());
    assert.deepEqual(result.failedMessageIds, []);
  });

  it('row 31: one process ingests several clusters without mixing them', async () => {
    const harness = new IngestHarness(TWO);
    const [first, second] = [senderOf('c1'), senderOf('c2')];
    await harness.ingestAll([...first.snapshot(), ...second.snapshot()]);
    await harness.ingest(first.changes([nodeOf('only-in-c1')]));
    await harness.ingest(second.changes([], { gone: ['node-uid-n1'] }));
    assert.deepEqual(await harness.namesIn('nodes'), ['n1', 'only-in-c1']);
    assert.deepEqual((await harness.slice('nodes', 0, 'c2'))?.objects, []);
  });

  it('ends a group that takes long before the function does; other clusters are applied (L3, row 61)', async () => {
    const harness = new IngestHarness(TWO);
    const [flooding, other] = [senderOf('c1'), senderOf('c2')];
    const messages = [...flooding.snapshot(), ...other.snapshot()];
    const records = messages.map((message) => recordOf(harness, message));
    let isLate = false;
    harness.view.hooks.after = ({ operation, target }) => {
      if (operation === 'writeMeta' && target.includes('c1')) isLate = true;
    };
    harness.view.hooks.before = async ({ target }) => {
      // Nothing of the flooding cluster is quick.
      if (target.includes('c1')) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    const { failedMessageIds } = await ingestBatch(records, harness.dependencies(), () => !isLate);
    assert.ok(failedMessageIds.length > 0);
    assert.deepEqual(
      failedMessageIds.filter((id) => !id.startsWith('c1-')),
      [],
    );
    assert.ok(!failedMessageIds.includes('c1-1'), 'the first one always begins');
  });
});
