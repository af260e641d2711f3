/** What a redrive does with each kind of dead letter: S6, protocol 17 and 18, rows 83 and 90. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findLetters } from '../../../../src/app/redrive/find-letters.ts';
import { redriveLetter } from '../../../../src/app/redrive/redrive-letter.ts';
import type { RedriveDependencies } from '../../../../src/app/redrive/redrive-letter.ts';
import {
  encodeHint,
  encodeTimer,
  readLostKey,
} from '../../../../src/adapters/sqs/schema/hint-codec.ts';
import { HINT_SCHEMA } from '../../../../src/core/model/hint.ts';
import type { Hint } from '../../../../src/core/model/hint.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { KeptDeadLetter } from '../../../../src/ports/stores/dead-letter-store.ts';
import type { DeadLetterRecord } from '../../../../src/ports/stores/registry-store.ts';
import { lostHintOf } from '../../../support/dead-letter-suite.ts';
import { MemoryDeadLetterStore } from '../../../support/memory-dead-letter-store.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { RecordingHintQueue } from '../../../support/recording-hint-queue.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const registration = registrationOf('c1');
const hint: Hint = {
  schema: HINT_SCHEMA,
  key: { cluster: clusterId('c1'), namespace: 'kube-system', name: 'logs' },
  clusterUid: registration.clusterUid,
  reason: 'changed',
};
const lostHint: DeadLetterRecord = { ...lostHintOf('c1', 5000), body: encodeHint(hint) };
const lostEvent: DeadLetterRecord = {
  ...lostHintOf('c1', 5000),
  queue: 'events',
  code: 'lost-event',
  body: '{"schema":1}',
};

class Bench {
  readonly letters = new MemoryDeadLetterStore();
  readonly registry = new MemoryRegistryStore();
  readonly view = new MemoryViewStore();
  readonly queue = new RecordingHintQueue();
  readonly clock = new VirtualClock();

  constructor() {
    this.registry.seed(registration);
  }

  get dependencies(): RedriveDependencies {
    const { letters, registry, view, queue, clock } = this;
    return { letters, registry, view, queue, clock, readLostKey };
  }

  async redrive(record: DeadLetterRecord, afterwards: 'note' | 'remove' = 'note'): Promise<string> {
    const letter = await this.keep(record);
    const options = { by: 'somebody', redriveId: 'r1', afterwards, pace: 'usual' } as const;
    return redriveLetter(letter, options, this.dependencies);
  }

  async keep(record: DeadLetterRecord): Promise<KeptDeadLetter> {
    await this.letters.recordDeadLetter(record);
    const found = await findLetters(this.letters, { of: 'all' }, { readMax: 100 });
    const letter = found.letters.at(-1);
    assert.ok(letter !== undefined);
    return letter;
  }

  async first(): Promise<KeptDeadLetter | undefined> {
    return (await findLetters(this.letters, { of: 'all' }, { readMax: 100 })).letters[0];
  }
}

describe('redriving a lost hint', () => {
  it('has its key looked at anew, and notes it on the record', async () => {
    const bench = new Bench();
    assert.equal(await bench.redrive(lostHint), 'hint-sent');
    assert.deepEqual(
      bench.queue.hints.map(({ key, reason }) => ({ key, reason })),
      [{ key: hint.key, reason: 'manual' }],
    );
    const noted = (await bench.first())?.redrive;
    assert.deepEqual([noted?.by, noted?.outcome], ['somebody', 'hint-sent']);
  });

  it('does the same for a lost timer, and removes the record when asked to', async () => {
    const bench = new Bench();
    const body = encodeTimer({ schema: HINT_SCHEMA, hint, timerId: 't', dueAtMs: 1, hops: 0 });
    assert.equal(await bench.redrive({ ...lostHint, queue: 'delay', body }, 'remove'), 'hint-sent');
    assert.equal(bench.queue.hints.length, 1);
    assert.equal(await bench.first(), undefined);
  });

  it('sends nothing for a body that cannot be read, and keeps its record', async () => {
    for (const body of ['{', '{}', encodeHint(hint) + 'x'.repeat(20_000)]) {
      const bench = new Bench();
      assert.equal(await bench.redrive({ ...lostHint, body }, 'remove'), 'unreadable');
      assert.equal(bench.queue.hints.length, 0);
      assert.equal((await bench.first())?.redrive, undefined);
    }
  });

  it('sends nothing for another cluster than the one of the record (S6)', async () => {
    const bench = new Bench();
    const body = encodeHint({ ...hint, key: { ...hint.key, cluster: clusterId('c2') } });
    assert.equal(await bench.redrive({ ...lostHint, body }), 'unreadable');
    assert.equal(bench.queue.hints.length, 0);
  });

  it('row 90: sends nothing about a cluster that was rebuilt since', async () => {
    const bench = new Bench();
    const body = encodeHint({ ...hint, clusterUid: clusterUid('former') });
    assert.equal(await bench.redrive({ ...lostHint, body }), 'other-cluster-uid');
    assert.equal(bench.queue.hints.length, 0);
  });

  it('sends nothing for a cluster that is not registered any more', async () => {
    const bench = new Bench();
    const body = encodeHint({ ...hint, key: { ...hint.key, cluster: clusterId('gone') } });
    assert.equal(await bench.redrive({ ...lostHint, cluster: 'gone', body }), 'unknown-cluster');
  });

  it('leaves the record as it was when the queue fails', async () => {
    const bench = new Bench();
    bench.queue.failNext(1);
    await assert.rejects(bench.redrive(lostHint));
    assert.equal((await bench.first())?.redrive, undefined);
  });
});

describe('redriving an event (protocol 18, row 83)', () => {
  const complete = { ...metaOf('uid-of-c1'), isComplete: true, broken: 3 };

  it('never sends the event: makes the view incomplete, so that a snapshot is asked for', async () => {
    const bench = new Bench();
    const stale = { ...complete, announcedAtMs: 4000, snapshotRequestedAtMs: 4999 };
    await bench.view.writeMeta(stale);
    assert.equal(await bench.redrive(lostEvent), 'snapshot-needed');
    const meta = await bench.view.readMeta(registration.clusterUid);
    assert.equal(meta?.isComplete, false);
    assert.equal(meta.broken, 4);
    assert.equal(meta.incompleteReason, 'dead-letter');
    assert.equal(meta.snapshotRequestedAtMs, undefined, 'resync asks at its next tick');
    assert.equal(bench.queue.hints.length, 0);
    assert.equal((await bench.first())?.redrive?.outcome, 'snapshot-needed');
    const again = { ...lostEvent, messageId: 'another', atMs: 5001 };
    assert.equal(await bench.redrive(again), 'snapshot-awaited', 'once is enough');
  });

  it('does nothing where a later snapshot has repaired the view', async () => {
    const bench = new Bench();
    await bench.view.writeMeta({ ...complete, announcedAtMs: 5001 });
    assert.equal(await bench.redrive(lostEvent), 'repaired');
    assert.equal((await bench.view.readMeta(registration.clusterUid))?.isComplete, true);
    assert.equal((await bench.first())?.redrive?.outcome, 'repaired');
  });

  it('does the same for a body that ingest refused, of a verified sender', async () => {
    const bench = new Bench();
    await bench.view.writeMeta({ ...complete, announcedAtMs: 4000 });
    const refused = { ...lostEvent, queue: 'ingest', code: 'invalid' } as const;
    assert.equal(await bench.redrive(refused), 'snapshot-needed');
  });

  it('S6: does nothing for an unverified sender, whatever it names', async () => {
    const bench = new Bench();
    await bench.view.writeMeta({ ...complete, announcedAtMs: 4000 });
    const claim = { cluster: 'c1', senderRoleId: 'AROA9' };
    for (const queue of ['events', 'ingest', 'reconcile'] as const) {
      const letter = { ...lostEvent, cluster: '', claim, queue, body: encodeHint(hint) };
      assert.equal(await bench.redrive(letter, 'remove'), 'unverified-sender');
    }
    assert.equal(bench.queue.hints.length, 0);
    assert.equal((await bench.view.readMeta(registration.clusterUid))?.broken, 3);
  });

  it('row 90: does nothing for a message of a rebuilt cluster', async () => {
    const bench = new Bench();
    await bench.view.writeMeta({ ...complete, announcedAtMs: 4000 });
    const rebuilt = { ...lostEvent, queue: 'ingest', code: 'wrong-cluster-uid' } as const;
    assert.equal(await bench.redrive(rebuilt), 'other-cluster-uid');
    assert.equal((await bench.view.readMeta(registration.clusterUid))?.broken, 3);
  });

  it('leaves a lost token to the cluster, which sends a new one', async () => {
    const bench = new Bench();
    const claim = { cluster: 'c1', senderRoleId: 'AROA9' };
    const token = { ...lostEvent, cluster: '', claim, queue: 'credentials', body: '' } as const;
    assert.equal(await bench.redrive(token), 'renewed-by-cluster');
    assert.equal(bench.queue.hints.length, 0);
  });

  it('tries again beside a busy ingest', async () => {
    const bench = new Bench();
    await bench.view.writeMeta({ ...complete, announcedAtMs: 4000 });
    let writes = 0;
    bench.view.hooks.before = async ({ operation }) => {
      if (operation !== 'writeMeta' || writes > 0) return;
      writes += 1;
      const meta = await bench.view.readMeta(registration.clusterUid);
      if (meta !== undefined) await bench.view.writeMeta({ ...meta, seq: 9 });
    };
    assert.equal(await bench.redrive(lostEvent), 'snapshot-needed');
    assert.equal((await bench.view.readMeta(registration.clusterUid))?.seq, 9, 'nothing is undone');
  });
});

describe('finding letters', () => {
  it('filters by partition, queue, code and age, and says what it left out', async () => {
    const bench = new Bench();
    for (const atMs of [1000, 2000, 3000]) await bench.keep({ ...lostHint, atMs, messageId: 'm' });
    await bench.keep({ ...lostEvent, messageId: 'e' });
    await bench.keep({
      ...lostEvent,
      cluster: '',
      claim: { cluster: 'c1', senderRoleId: 'AROA9' },
    });
    const find = async (filter: Parameters<typeof findLetters>[1], readMax = 100) =>
      findLetters(bench.letters, filter, { readMax });
    assert.equal((await find({ of: 'all' })).letters.length, 5);
    assert.equal((await find({ of: 'unverified' })).letters.length, 1);
    assert.equal((await find({ of: 'verified' })).letters.length, 4);
    const own = { of: { cluster: clusterId('c1') } };
    assert.equal((await find({ ...own, sinceMs: 2000 })).letters.length, 3);
    assert.equal((await find({ ...own, queue: 'events' })).letters.length, 1);
    assert.equal((await find({ ...own, code: 'lost-hint' })).letters.length, 3);
    const bounded = await find(own, 2);
    assert.deepEqual([bounded.letters.length, bounded.unfinished], [2, ['c1']]);
  });
});
