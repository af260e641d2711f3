/** Dead letters: a lost event marks its view incomplete, unless the view is younger (protocol 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { handleDeadLetter } from '../../../../src/app/dead-letter/dead-letter.ts';
import type { DeadLetterResult } from '../../../../src/app/dead-letter/dead-letter.ts';
import type { ParsedBody } from '../../../../src/app/ingest/message/result.ts';
import type { WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { IngestHarness } from '../../../support/ingest-harness.ts';
import { ScriptedSender, daemonSetOf, nodeOf } from '../../../support/scripted-sender.ts';

async function settled(): Promise<{ harness: IngestHarness; sender: ScriptedSender }> {
  const harness = new IngestHarness();
  const sender = new ScriptedSender({ epoch: '100' });
  sender.know([daemonSetOf('logs'), nodeOf('n1')]);
  await harness.ingestAll(sender.snapshot());
  return { harness, sender };
}

function bury(
  harness: IngestHarness,
  parsed: ParsedBody | WatcherMessage,
  senderRoleId = 'AROA1',
): Promise<DeadLetterResult> {
  const context = harness.context({ senderRoleId });
  const body = 'kind' in parsed ? parsed : ({ kind: 'message', message: parsed } as const);
  return handleDeadLetter({ queue: 'events', context, parsed: body }, harness.dependencies());
}

/** Letters of one key, of both queues in turn. */
function lettersOf(owner: string, count: number) {
  const key = { cluster: clusterId('c1'), namespace: 'system', name: 'logs' };
  const lost = { key, clusterUid: clusterUid(owner) };
  return Array.from({ length: count }, (_, index) => ({
    queue: index % 2 === 0 ? ('reconcile' as const) : ('delay' as const),
    messageId: `h${index}`,
    lost,
  }));
}

describe('a dead letter', () => {
  it('row 83: of an event makes the view incomplete until a snapshot announced afterwards', async () => {
    const { harness, sender } = await settled();
    const result = await bury(harness, sender.changes([nodeOf('n2')]));
    assert.deepEqual(result, { kind: 'view-incomplete', code: 'lost-event' });
    const meta = await harness.meta();
    assert.deepEqual([meta.isComplete, meta.broken, meta.seq], [false, 1, 3]);
    assert.equal(harness.lease.requests.length, 1);
    assert.equal(harness.metrics.sum('DeadLetters', 'events/lost-event'), 1);
    const last = await harness.ingestAll(sender.snapshot({ reason: 'requested' }));
    assert.deepEqual(last, { kind: 'applied', hints: 1, isComplete: true });
    assert.deepEqual(await harness.namesIn('nodes'), ['n1', 'n2']);
  });

  it('protocol 18: an event older than the announcement is counted and ignored', async () => {
    const { harness, sender } = await settled();
    const lost = sender.heartbeat();
    await harness.ingest(lost);
    const older = new ScriptedSender({ epoch: '50' }).heartbeat();
    await harness.ingest(sender.announce({ reason: 'periodic' }));
    for (const letter of [lost, older]) {
      const during = await bury(harness, letter);
      assert.deepEqual(during, { kind: 'outdated', code: 'older-than-announcement' });
    }
    await harness.ingestAll([sender.slices(), sender.manifest()]);
    assert.equal((await bury(harness, lost)).kind, 'outdated');
    const meta = await harness.meta();
    assert.deepEqual([meta.isComplete, meta.broken], [true, 0]);
    assert.equal(harness.metrics.sum('DeadLetters', 'events/older-than-announcement'), 3);
  });

  it('protocol 18: of the announcement itself makes the view incomplete: nothing later vouches for it', async () => {
    const { harness, sender } = await settled();
    const announcement = sender.announce({ reason: 'periodic' });
    await harness.ingest(announcement);
    assert.equal((await bury(harness, announcement)).kind, 'view-incomplete');
  });

  it('protocol 18: one that comes between announcement and manifest keeps it from closing', async () => {
    const { harness, sender } = await settled();
    await harness.ingestAll([sender.announce({ reason: 'periodic' }), sender.slices()]);
    const body = sender.slices();
    sender.seq -= 1;
    await bury(harness, body);
    assert.deepEqual(await harness.ingest(sender.manifest()), { kind: 'awaiting-snapshot' });
    assert.equal((await harness.meta()).isComplete, false);
  });

  it('S6: of somebody else, or without a readable cluster, touches no view', async () => {
    const { harness, sender } = await settled();
    const before = harness.view.dump();
    const forged = await bury(harness, sender.heartbeat(), 'AROA2');
    const unreadable = { kind: 'refused', code: 'undecodable', field: '', header: {} } as const;
    for (const result of [forged, await bury(harness, unreadable)]) {
      assert.deepEqual(result, { kind: 'counted', code: 'unverified-event' });
    }
    assert.deepEqual(harness.view.dump(), before);
    assert.equal(harness.metrics.sum('DeadLetters', 'events/unverified-event'), 2);
  });

  it('of a verified sender whose body cannot be read is a loss', async () => {
    const { harness, sender } = await settled();
    const { cluster } = sender.header;
    const parsed = {
      kind: 'refused',
      code: 'invalid',
      field: 'body',
      header: { cluster },
    } as const;
    assert.equal((await bury(harness, parsed)).kind, 'view-incomplete');
  });

  it('of a cluster without a view is counted', async () => {
    const harness = new IngestHarness();
    const result = await bury(harness, new ScriptedSender({ epoch: '100' }).heartbeat());
    assert.deepEqual(result, { kind: 'counted', code: 'lost-event' });
  });

  it('of a hint that cannot be read is counted, and its key not looked at', async () => {
    const { harness } = await settled();
    const letter = {
      queue: 'reconcile',
      messageId: 'h1',
    } as const;
    for (const _repeat of [1, 2]) {
      const result = await handleDeadLetter(letter, harness.dependencies());
      assert.deepEqual(result, { kind: 'counted', code: 'lost-hint' });
    }
    await handleDeadLetter({ queue: 'delay', messageId: 't1' }, harness.dependencies());
    assert.deepEqual(harness.queue.timers, []);
    assert.equal(harness.metrics.sum('DeadLetters', 'reconcile/lost-hint'), 2);
    assert.equal(harness.log.at('warn').length, 3);
  });

  it('A.4: of a hint or timer leads to one look at its key, ten to fifteen minutes later (L2)', async () => {
    const { harness } = await settled();
    const { clock, queue } = harness;
    const letters = lettersOf('uid-of-c1', 3);
    for (const letter of letters) {
      const result = await handleDeadLetter(letter, harness.dependencies());
      assert.deepEqual(result, { kind: 'look-again', code: 'lost-hint' });
    }
    const ids = new Set(queue.timers.map(({ timerId }) => timerId));
    assert.equal(ids.size, 1, 'letters of one key mean one look: reconcile.fifo merges equal ids');
    const [timer] = queue.timers;
    assert.ok(timer !== undefined);
    const waitMs = timer.dueAtMs - clock.nowMs();
    assert.ok(waitMs >= 600_000 && waitMs <= 900_000, `${waitMs} ms: later, and without a hop`);
    assert.deepEqual([timer.hint.key.name, timer.hint.reason, timer.hops], ['logs', 'retry', 0]);
    const [line] = harness.log.at('warn');
    assert.deepEqual([line?.fields['cluster'], line?.fields['key']], ['c1', 'system/logs']);
  });

  it('A.4: poison that is given up again and again is looked at once in ten minutes at most', async () => {
    const { harness } = await settled();
    const HOURS = 6;
    for (let minute = 0; minute < HOURS * 60; minute += 1) {
      for (const letter of lettersOf('uid-of-c1', 1)) {
        await handleDeadLetter(letter, harness.dependencies());
      }
      await harness.clock.advance(60_000);
    }
    const looks = new Set(harness.queue.timers.map(({ timerId }) => timerId));
    // A letter a minute from elsewhere: five minutes apart. A loop of its own comes after ten or more.
    assert.ok(looks.size <= HOURS * 12 + 1, `${looks.size} looks`);
  });

  it('A.4: nothing is sent for a cluster that is gone, or was made again (row 90)', async () => {
    const { harness } = await settled();
    const [letter] = lettersOf('uid-of-c1', 1);
    assert.ok(letter?.lost !== undefined);
    const { key } = letter.lost;
    const elsewhere = { ...letter, lost: { key, clusterUid: clusterUid('another') } };
    const gone = { ...key, cluster: clusterId('gone') };
    const unknown = { ...letter, lost: { ...letter.lost, key: gone } };
    for (const one of [elsewhere, unknown]) {
      const result = await handleDeadLetter(one, harness.dependencies());
      assert.deepEqual(result, { kind: 'counted', code: 'lost-hint' });
    }
    assert.deepEqual(harness.queue.timers, []);
  });

  it('A.4: a letter whose timer was not taken is not counted, and comes again', async () => {
    const { harness } = await settled();
    harness.queue.failNext(1);
    const [letter] = lettersOf('uid-of-c1', 1);
    assert.ok(letter !== undefined);
    await assert.rejects(handleDeadLetter(letter, harness.dependencies()));
    assert.equal(harness.metrics.sum('DeadLetters'), 0);
  });

  it('of a token is logged with its sender, and counted (S6)', async () => {
    const { harness } = await settled();
    const letter = {
      queue: 'credentials',
      messageId: 't1',
      senderRoleId: 'AROARENEWER',
    } as const;
    const result = await handleDeadLetter(letter, harness.dependencies());
    assert.deepEqual(result, { kind: 'counted', code: 'lost-credential' });
    assert.equal(harness.metrics.sum('DeadLetters', 'credentials/lost-credential'), 1);
    const [line] = harness.log.at('warn');
    assert.equal(line?.fields['senderRoleId'], 'AROARENEWER');
    assert.equal((await harness.meta()).isComplete, true, 'no view depends on it');
  });
});
