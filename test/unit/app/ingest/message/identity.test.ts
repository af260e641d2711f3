/** Who may say what about which cluster: S6, protocol 24, rows 63 and 90. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid, epoch } from '../../../../../src/core/model/identifiers.ts';
import { ingestRecord } from '../../../../../src/app/ingest/ingest-batch.ts';
import { IngestHarness, registrationFor } from '../../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../../support/scripted-sender.ts';

describe('identity of the sender (protocol 24)', () => {
  const cases = [
    { code: 'unknown-cluster', header: { cluster: 'nobody' as never }, senderRoleId: 'AROA1' },
    { code: 'wrong-sender', header: {}, senderRoleId: 'AROA2' },
    { code: 'wrong-sender', header: {}, senderRoleId: undefined },
    { code: 'wrong-cluster-uid', header: { clusterUid: clusterUid('x') }, senderRoleId: 'AROA1' },
  ];
  for (const { code, header, senderRoleId } of cases) {
    it(`refuses ${code} (${String(senderRoleId)}): one line, a metric, a note, no view`, async () => {
      const harness = new IngestHarness();
      const message = { ...new ScriptedSender({ epoch: '100' }).announce(), ...header };
      const result = await harness.ingest(message, { senderRoleId });
      assert.deepEqual(result, { kind: 'refused', code });
      assert.equal(harness.log.lines.length, 1);
      assert.equal(harness.log.at('warn')[0]?.fields['code'], code);
      assert.equal(harness.metrics.sum('IngestRefusals', code), 1);
      const [note] = harness.registry.refusals.values();
      const isVerified = code === 'wrong-cluster-uid';
      assert.equal(note?.sender, isVerified ? 'verified' : 'unverified');
      assert.deepEqual([note.cluster, note.senderRoleId], [message.cluster, senderRoleId]);
      assert.equal(note.code, code);
      assert.equal(note.detail, isVerified ? 'x' : note.detail, 'which cluster it was instead');
      assert.deepEqual(harness.view.calls, [], 'S6: nothing of any view is read or written');
    });
  }

  it('refuses a cluster’s messages in another cluster’s group, before anything is read (L3)', async () => {
    const harness = new IngestHarness();
    const message = new ScriptedSender({ epoch: '100' }).announce();
    const result = await harness.ingest(message, { groupId: 'c2' });
    assert.deepEqual(result, { kind: 'refused', code: 'wrong-group' });
    assert.deepEqual(
      harness.registry.calls.map(({ operation }) => operation),
      ['noteRefusal'],
    );
    assert.deepEqual(harness.view.calls, []);
    const own = await harness.ingest(message, { groupId: 'c1' });
    assert.equal(own.kind, 'applied');
  });

  it('never unpacks what a sender may not say (L3)', async () => {
    const harness = new IngestHarness();
    const message = new ScriptedSender({ epoch: '100' }).announce();
    let isUnpacked = false;
    const record = (context: ReturnType<IngestHarness['context']>) => ({
      context,
      header: message,
      get parsed() {
        isUnpacked = true;
        return { kind: 'message' as const, message };
      },
    });
    for (const origin of [{ senderRoleId: 'AROA2' }, { groupId: 'c2' }]) {
      const refused = await ingestRecord(record(harness.context(origin)), harness.dependencies());
      assert.equal(refused.kind, 'refused');
      assert.equal(isUnpacked, false);
    }
    const own = await ingestRecord(record(harness.context()), harness.dependencies());
    assert.equal(own.kind, 'applied');
    assert.equal(isUnpacked, true);
  });

  it('lets a forged message go when it cannot be noted: it waits in the victim’s group', async () => {
    const harness = new IngestHarness();
    harness.registry.hooks.before = ({ operation }) => {
      if (operation === 'noteRefusal') throw new Error('throttled');
    };
    const message = new ScriptedSender({ epoch: '100' }).announce();
    const result = await harness.ingest(message, { senderRoleId: 'AROA2' });
    assert.deepEqual(result, { kind: 'refused', code: 'wrong-sender' });
    assert.equal(harness.metrics.sum('RefusalsUnkept', 'ingest'), 1);
    const poison = { ...message, clusterUid: clusterUid('x') };
    await assert.rejects(harness.ingest(poison), 'a verified sender’s comes again');
  });

  it('row 90: a cluster rebuilt under its old id stays refused until registered again', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    sender.know([nodeOf('n1'), daemonSetOf('logs')]);
    await harness.ingestAll(sender.snapshot());
    const before = harness.view.dump();
    const rebuilt = { ...sender.changes([nodeOf('n2')]), clusterUid: clusterUid('rebuilt') };
    const refused = await harness.ingest(rebuilt);
    assert.deepEqual(refused, { kind: 'refused', code: 'wrong-cluster-uid' });
    assert.deepEqual(harness.view.dump(), before);
    harness.registry.seed(registrationFor('c1', { clusterUid: clusterUid('rebuilt') }));
    const accepted = await harness.ingest({ ...rebuilt, epoch: epoch('5') });
    assert.equal(accepted.kind, 'incomplete', 'a view of its own begins');
  });

  it('refuses on a fresh read only: a role that was changed a moment ago is believed', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingest(sender.announce());
    harness.registry.seed(registrationFor('c1', { senderRoleId: 'AROA2' }));
    const result = await harness.ingest(sender.slices(), { senderRoleId: 'AROA2' });
    assert.equal(result.kind, 'applied');
  });

  it('reads the registration once in half a minute', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingestAll(sender.snapshot());
    assert.equal(harness.registry.calls.length, 1);
    await harness.clock.advance(31_000);
    await harness.ingest(sender.heartbeat());
    assert.equal(harness.registry.calls.length, 2);
  });

  it('decides nothing while the registry cannot be read (spec faults 32)', async () => {
    const harness = new IngestHarness();
    harness.registry.hooks.before = () => {
      throw new Error('throttled');
    };
    await assert.rejects(harness.ingest(new ScriptedSender({ epoch: '100' }).announce()));
    assert.deepEqual(harness.view.calls, []);
    assert.equal(harness.registry.refusals.size, 0);
  });
});

describe('bodies that cannot be read', () => {
  const refusedBody = (
    header: Parameters<typeof ingestRecord>[0]['header'],
  ): Pick<Parameters<typeof ingestRecord>[0], 'header' | 'parsed'> => ({
    header,
    parsed: { kind: 'refused', code: 'invalid', field: 'body.deltas.0', header },
  });

  it('protocol 18: from the verified sender: refused, noted, and the view incomplete', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingestAll(sender.snapshot());
    const { body: _body, ...header } = sender.heartbeat();
    const record = { context: harness.context(), ...refusedBody(header) };
    const result = await ingestRecord(record, harness.dependencies());
    assert.deepEqual(result, { kind: 'refused', code: 'invalid', field: 'body.deltas.0' });
    const meta = await harness.meta();
    assert.deepEqual(
      [meta.isComplete, meta.incompleteReason, meta.broken],
      [false, 'undecodable', 1],
    );
    assert.equal(meta.seq, header.seq, 'its position is finished: it never comes again');
    assert.equal(harness.lease.requests.length, 1);
    assert.equal(harness.registry.refusals.size, 1);
    await ingestRecord(record, harness.dependencies());
    assert.equal((await harness.meta()).broken, 1, 'a redelivery is no second loss');
  });

  it('from the verified sender without a position: still a loss', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingestAll(sender.snapshot());
    const { cluster } = sender.header;
    const record = { context: harness.context(), ...refusedBody({ cluster }) };
    await ingestRecord(record, harness.dependencies());
    assert.equal((await harness.meta()).isComplete, false);
  });

  it('row 63: from anybody else only refused', async () => {
    const harness = new IngestHarness();
    const sender = new ScriptedSender({ epoch: '100' });
    await harness.ingestAll(sender.snapshot());
    const before = harness.view.dump();
    const { body: _body, ...header } = sender.heartbeat();
    for (const [wanted, given, senderRoleId] of [
      ['wrong-sender', header, 'AROA2'],
      ['unknown-cluster', { cluster: 'x' }, 'AROA1'],
      ['invalid', {}, 'AROA1'],
    ] as const) {
      const context = harness.context({ senderRoleId });
      const record = { context, ...refusedBody(given as object) };
      const result = await ingestRecord(record, harness.dependencies());
      assert.equal(result.kind === 'refused' && result.code, wanted);
    }
    assert.deepEqual(harness.view.dump(), before);
    assert.equal(harness.registry.refusals.size, 3);
  });
});
