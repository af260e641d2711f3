/** Batches, retries and delays of the hint queue, with a client that fails as told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  SendMessageBatchCommand,
  SendMessageBatchResult,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { Hint, Timer } from '../../../../src/core/model/hint.ts';
import { QueueRejectionError, createHintQueue } from '../../../../src/adapters/sqs/hint-queue.ts';
import { VIRTUAL_START_MS, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

type Entries = NonNullable<SendMessageBatchCommand['input']['Entries']>;
type Failures = Partial<Pick<SendMessageBatchResult, 'Failed'>>;
type Answer = (entries: Entries, attempt: number) => Failures;

function hint(index: number): Hint {
  return {
    schema: 1,
    key: { cluster: clusterId('west-1'), namespace: 'agents', name: `set-${index}` },
    clusterUid: clusterUid('uid-1'),
    reason: 'changed',
  };
}

function failed(entries: Entries, isSenderFault: boolean): Failures {
  const code = isSenderFault ? 'InvalidParameterValue' : 'InternalError';
  return { Failed: entries.map(({ Id }) => ({ Id, SenderFault: isSenderFault, Code: code })) };
}

function queueWith(answer: Answer) {
  const sent: { url: string | undefined; entries: Entries }[] = [];
  const clock = new VirtualClock();
  const client = {
    send: (command: SendMessageBatchCommand): Promise<SendMessageBatchResult> => {
      const entries = command.input.Entries ?? [];
      sent.push({ url: command.input.QueueUrl, entries });
      const { Failed = [] } = answer(entries, sent.length);
      const failedIds = new Set(Failed.map(({ Id }) => Id));
      const Successful = entries
        .filter(({ Id }) => !failedIds.has(Id))
        .map(({ Id }) => ({ Id, MessageId: 'm', MD5OfMessageBody: '' }));
      return Promise.resolve({ Successful, Failed });
    },
  } as unknown as SQSClient; // `send` with this one command is all that is used
  const queue = createHintQueue({
    client,
    clock,
    reconcileQueueUrl: 'https://reconcile.fifo',
    delayQueueUrl: 'https://delay',
  });
  return { queue, sent, clock };
}

async function settled(promise: Promise<void>, clock: VirtualClock): Promise<unknown> {
  let outcome: unknown = 'pending';
  promise.then(
    () => (outcome = 'resolved'),
    (error: unknown) => (outcome = error),
  );
  await clock.advance(10_000);
  return outcome;
}

describe('hint queue', () => {
  it('sends hints in batches of ten, by group, under the prefix', async () => {
    const { queue, sent } = queueWith(() => ({}));
    const hints = Array.from({ length: 23 }, (_, index) => hint(index));
    await queue.sendHints(hints, 'ingest/77/');
    assert.deepEqual(sent.map(({ entries }) => entries.length).sort(), [10, 10, 3]);
    const entries = sent.flatMap((batch) => batch.entries);
    assert.equal(new Set(entries.map((entry) => entry.MessageGroupId)).size, 23);
    assert.ok(entries.every((entry) => entry.MessageDeduplicationId?.startsWith('ingest/77/')));
    assert.ok(sent.every(({ url }) => url === 'https://reconcile.fifo'));
  });

  it('sends a crowd through a few lanes, whatever its size (L3, row 61)', async () => {
    const { queue, sent } = queueWith(() => ({}));
    const groups = (): Set<unknown> =>
      new Set(
        sent.splice(0).flatMap(({ entries }) => entries.map((entry) => entry.MessageGroupId)),
      );
    await queue.sendHints(
      Array.from({ length: 50 }, (_, index) => hint(index)),
      'p/',
    );
    assert.equal(groups().size, 50, 'no crowd: each key by itself');
    await queue.sendHints(
      Array.from({ length: 3000 }, (_, index) => hint(index)),
      'p/',
    );
    assert.equal(groups().size, 12);
    await queue.sendHints(
      Array.from({ length: 40 }, (_, index) => hint(index)),
      'p/',
      'suspect',
    );
    assert.equal(groups().size, 4);
  });

  it('sends nothing for nothing', async () => {
    const { queue, sent } = queueWith(() => ({}));
    await queue.sendHints([], 'x/');
    assert.equal(sent.length, 0);
  });

  it('repeats what was not accepted, with the same ids, until it is', async () => {
    const { queue, sent, clock } = queueWith((entries, attempt) =>
      attempt === 1 ? failed(entries.slice(2, 4), false) : {},
    );
    const sending = queue.sendHints([0, 1, 2, 3].map(hint), 'p/');
    assert.equal(await settled(sending, clock), 'resolved');
    const ids = sent.map(({ entries }) => entries.map((entry) => entry.MessageDeduplicationId));
    assert.equal(ids.length, 2);
    assert.deepEqual(ids[1], ids[0]?.slice(2, 4));
  });

  it('rejects when entries stay refused: the record must come again', async () => {
    const { queue, sent, clock } = queueWith((entries) => failed(entries, false));
    const outcome = await settled(queue.sendHints([hint(1)], 'p/'), clock);
    assert.ok(outcome instanceof QueueRejectionError);
    assert.match(outcome.message, /1 of 1 entries: InternalError/);
    assert.equal(sent.length, 4);
  });

  it('rejects at once when the fault is ours', async () => {
    const { queue, sent, clock } = queueWith((entries) => failed(entries, true));
    const outcome = await settled(queue.sendHints([hint(1)], 'p/'), clock);
    assert.ok(outcome instanceof QueueRejectionError);
    assert.equal(sent.length, 1);
  });

  it('delays timers until they are due, at most 900 s, never less than 0 (design 3)', async () => {
    const { queue, sent } = queueWith(() => ({}));
    const timer = (dueInMs: number): Timer => ({
      schema: 1,
      hint: hint(1),
      timerId: `t${dueInMs}`,
      dueAtMs: VIRTUAL_START_MS + dueInMs,
      hops: 0,
    });
    await queue.sendTimers([-5000, 0, 1, 1000, 1001, 899_500, 5_000_000].map(timer));
    const [batch] = sent;
    assert.equal(batch?.url, 'https://delay');
    assert.deepEqual(
      batch.entries.map((entry) => entry.DelaySeconds),
      [0, 0, 1, 1, 2, 900, 900],
    );
    // The tenant of a fair queue: it orders nothing on a standard one.
    assert.ok(batch.entries.every((entry) => entry.MessageGroupId === 'west-1'));
    assert.ok(batch.entries.every((entry) => entry.MessageDeduplicationId === undefined));
  });
});
