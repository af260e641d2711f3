/**
 * What every store of dead letters must do: run against the memory double and against DynamoDB (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatDeadLetterId, parseDeadLetterId } from '../../src/core/hints/dead-letter-place.ts';
import type { DeadLetterStore } from '../../src/ports/stores/dead-letter-store.ts';
import type { DeadLetterRecord } from '../../src/ports/stores/registry-store.ts';
import { freshName } from './store-suite.ts';

/** A store, and the way in that functions have. */
export interface DeadLetterBench {
  readonly letters: DeadLetterStore;
  readonly recordDeadLetter: (record: DeadLetterRecord) => Promise<unknown>;
}

/** A lost hint of a cluster. */
export function lostHintOf(cluster: string, atMs: number): DeadLetterRecord {
  return {
    cluster,
    queue: 'reconcile',
    code: 'lost-hint',
    detail: '',
    messageId: `message-${atMs}`,
    atMs,
    body: '{}',
  };
}

/** Tests of a store of dead letters; call inside a describe block. */
export function testDeadLetterStore(bench: () => DeadLetterBench): void {
  testPartitions(bench);
  testRecords(bench);
}

function testPartitions(bench: () => DeadLetterBench): void {
  it('lists a partition in the order of time, by pages, from a moment on', async () => {
    const { letters, recordDeadLetter } = bench();
    const cluster = freshName('listed');
    for (const atMs of [3000, 1000, 2000, 4000]) await recordDeadLetter(lostHintOf(cluster, atMs));
    const first = await letters.list(cluster, { limit: 2, sinceMs: 2000 });
    assert.deepEqual(
      first.letters.map(({ atMs }) => atMs),
      [2000, 3000],
    );
    assert.ok(first.cursor !== undefined);
    const second = await letters.list(cluster, { limit: 2, cursor: first.cursor });
    assert.deepEqual(
      second.letters.map(({ atMs }) => atMs),
      [4000],
    );
    assert.equal(second.cursor, undefined);
  });

  it('knows every partition, also that of a sender nobody vouches for (S6)', async () => {
    const { letters, recordDeadLetter } = bench();
    const cluster = freshName('known');
    const senderRoleId = freshName('AROA').replace('-', '');
    await recordDeadLetter(lostHintOf(cluster, 1));
    await recordDeadLetter({ ...lostHintOf('', 2), queue: 'reconcile' });
    const claim = { cluster, senderRoleId };
    await recordDeadLetter({ ...lostHintOf('', 3), queue: 'ingest', code: 'wrong-sender', claim });
    const partitions = await letters.listPartitions();
    for (const partition of [cluster, '', `unverified/${senderRoleId}`]) {
      assert.ok(partitions.includes(partition), `"${partition}" in ${partitions.join(', ')}`);
      assert.ok((await letters.list(partition, { limit: 10 })).letters.length > 0);
    }
    const [forged] = (await letters.list(`unverified/${senderRoleId}`, { limit: 10 })).letters;
    assert.equal(forged?.claimedCluster, cluster);
    assert.equal((await letters.list(cluster, { limit: 10 })).letters.length, 1, 'kept apart');
  });

  it('keeps one record an hour of what a watcher in the wrong place repeats (row 90)', async () => {
    const { letters, recordDeadLetter } = bench();
    const cluster = freshName('rebuilt');
    const refused = { queue: 'ingest', code: 'wrong-cluster-uid', detail: 'uid-2' } as const;
    for (let second = 0; second < 20; second += 1) {
      await recordDeadLetter({ ...lostHintOf(cluster, 7_200_000 + second * 1000), ...refused });
    }
    await recordDeadLetter({ ...lostHintOf(cluster, 10_800_000), ...refused });
    const { letters: kept } = await letters.list(cluster, { limit: 100 });
    assert.deepEqual(
      kept.map(({ atMs }) => Math.floor(atMs / 3_600_000)),
      [2, 3],
    );
  });
}

function testRecords(bench: () => DeadLetterBench): void {
  it('notes a redrive once, and makes no record out of a note', async () => {
    const { letters, recordDeadLetter } = bench();
    const cluster = freshName('noted');
    await recordDeadLetter(lostHintOf(cluster, 5));
    const [letter] = (await letters.list(cluster, { limit: 1 })).letters;
    assert.ok(letter !== undefined);
    const note = { atMs: 9, by: 'somebody', outcome: 'hint-sent' };
    assert.equal(await letters.noteRedrive(letter.place, note), 'noted');
    const id = parseDeadLetterId(formatDeadLetterId(letter.place));
    assert.ok(id !== undefined);
    assert.deepEqual(await letters.read(id), { ...letter, redrive: note });
    await letters.remove(letter.place);
    await letters.remove(letter.place);
    assert.equal(await letters.read(letter.place), undefined);
    assert.equal(await letters.noteRedrive(letter.place, note), 'gone');
    assert.equal(await letters.read(letter.place), undefined);
  });

  it('says that a body was cut, so that nobody sends half of one', async () => {
    const { letters, recordDeadLetter } = bench();
    const cluster = freshName('cut');
    await recordDeadLetter({ ...lostHintOf(cluster, 1), body: 'x'.repeat(16_385) });
    await recordDeadLetter({ ...lostHintOf(cluster, 2), body: 'x'.repeat(16_384) });
    const { letters: kept } = await letters.list(cluster, { limit: 10 });
    assert.deepEqual(
      kept.map(({ isBodyCut, body }) => [isBodyCut, body.length]),
      [
        [true, 16_384],
        [false, 16_384],
      ],
    );
  });
}

/** Who is refused for the first time is told apart, so that somebody is called once (issue 40). */
export function testFirstRefusals(bench: () => DeadLetterBench): void {
  it('tells the first refusal of a sender and code, and again after a day without', async () => {
    const { recordDeadLetter } = bench();
    const hourMs = 3_600_000;
    const startMs = 1_000 * hourMs;
    const senders = [freshName('AROA'), freshName('AROA')];
    const refuse = (sender: number, code: string, hour: number): Promise<unknown> =>
      recordDeadLetter({
        ...lostHintOf('', startMs + hour * hourMs),
        claim: { cluster: 'victim', senderRoleId: senders[sender] },
        queue: 'ingest',
        code,
      });
    assert.equal(await refuse(0, 'wrong-sender', 0), 'first');
    assert.equal(await refuse(0, 'wrong-sender', 0.1), 'kept');
    assert.equal(await refuse(0, 'wrong-sender', 23), 'kept');
    assert.equal(await refuse(0, 'wrong-group', 23), 'first', 'another code');
    assert.equal(await refuse(1, 'wrong-sender', 23), 'first', 'another sender');
    assert.equal(await refuse(0, 'wrong-sender', 46), 'kept', 'a day since the last one');
    assert.equal(await refuse(0, 'wrong-sender', 71), 'first');
    const hint = { ...lostHintOf(freshName('c'), startMs), code: 'lost-hint' };
    assert.equal(await recordDeadLetter(hint), 'kept', 'no refusal');
  });
}
