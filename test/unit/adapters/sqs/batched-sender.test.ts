/** Messages of one moment, with a client that takes what it is told to take (ADR 0048). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  SendMessageBatchCommand,
  SendMessageBatchResult,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import {
  BatchedSender,
  QueueRejectionError,
  type Entry,
} from '../../../../src/adapters/sqs/hint-queue.ts';

type Takes = (bodies: readonly string[]) => Promise<Partial<SendMessageBatchResult>>;

/** A sender, and the bodies of each request. */
function senderWith(takes?: Takes): {
  readonly sender: BatchedSender;
  readonly requests: readonly (readonly string[])[];
  readonly clock: VirtualClock;
} {
  const requests: string[][] = [];
  const takesAll: Takes = (bodies) =>
    Promise.resolve({
      Successful: bodies.map((_, index) => ({
        Id: String(index),
        MessageId: 'm',
        MD5OfMessageBody: '',
      })),
    });
  const client = {
    send: ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
      const bodies = Entries.map(({ MessageBody }) => MessageBody ?? '');
      requests.push(bodies);
      return (takes ?? takesAll)(bodies);
    },
  } as unknown as SQSClient; // `send` with this one command is all that is used
  const clock = new VirtualClock();
  const sender = new BatchedSender({ client, queueUrl: 'https://delay', clock });
  return { sender, requests, clock };
}

const entries = (...bodies: readonly string[]): readonly Entry[] =>
  bodies.map((MessageBody) => ({ MessageBody }));

const letters = (from: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${from}${String(index)}`);

describe('a batched sender', () => {
  it('sends what is asked for in one moment in one request, in its order', async () => {
    const { sender, requests } = senderWith();
    await Promise.all(['a', 'b', 'c'].map((body) => sender.send(entries(body))));
    await sender.send(entries('d'));
    assert.deepEqual(requests, [['a', 'b', 'c'], ['d']]);
  });

  it('fills requests with ten, whoever asked', async () => {
    const { sender, requests } = senderWith();
    await Promise.all([
      sender.send(entries(...letters('a', 7))),
      sender.send(entries(...letters('b', 7))),
    ]);
    assert.deepEqual(
      requests.map(({ length }) => length),
      [10, 4],
    );
  });

  it('has four requests under way; what comes meanwhile goes with the next', async () => {
    const answers: (() => void)[] = [];
    const { sender, requests } = senderWith((bodies) => {
      const Successful = bodies.map((_, index) => ({
        Id: String(index),
        MessageId: 'm',
        MD5OfMessageBody: '',
      }));
      return new Promise((resolve) => answers.push(() => resolve({ Successful })));
    });
    const crowd = sender.send(entries(...letters('a', 45)));
    const late = sender.send(entries('late'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(requests.length, 4);
    for (const answer of answers.splice(0)) answer();
    // One for who hears of it, one for what leaves then.
    for (let each = 0; each < 2; each += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of answers) answer();
    await Promise.all([crowd, late]);
    assert.deepEqual(requests.at(4), [...letters('a', 45).slice(40), 'late']);
  });

  it('tells each of its own: what is refused beside it is nobody else’s', async () => {
    const { sender } = senderWith((bodies) => {
      const all = bodies.map((body, index) => ({ body, Id: String(index) }));
      const isBad = ({ body }: { readonly body: string }): boolean => body === 'bad';
      return Promise.resolve({
        Successful: all
          .filter((each) => !isBad(each))
          .map(({ Id }) => ({ Id, MessageId: 'm', MD5OfMessageBody: '' })),
        Failed: all
          .filter(isBad)
          .map(({ Id }) => ({ Id, SenderFault: true, Code: 'InvalidParameterValue' })),
      });
    });
    const [good, bad] = await Promise.allSettled([
      sender.send(entries('good')),
      sender.send(entries('bad', 'also good')),
    ]);
    assert.equal(good.status, 'fulfilled');
    assert.ok(bad.status === 'rejected' && bad.reason instanceof QueueRejectionError);
    assert.match(bad.reason.message, /did not accept 1 of 2 entries: InvalidParameterValue/);
  });

  it('takes for accepted only what the answer names so: what it names nowhere is sent again', async () => {
    const Successful = [{ Id: '0', MessageId: 'm', MD5OfMessageBody: '' }];
    const { sender, requests, clock } = senderWith(() => Promise.resolve({ Successful }));
    const sent = sender.send(entries('a', 'b', 'c'));
    await clock.advance(1_000);
    await sent;
    assert.deepEqual(requests, [['a', 'b', 'c'], ['b', 'c'], ['c']]);
  });

  it('fails everybody whose request failed, and goes on with the next', async () => {
    let isDown = true;
    const { sender, requests } = senderWith((bodies) =>
      isDown
        ? Promise.reject(new Error('no answer'))
        : Promise.resolve({
            Successful: bodies.map((_, index) => ({
              Id: String(index),
              MessageId: 'm',
              MD5OfMessageBody: '',
            })),
          }),
    );
    const ends = await Promise.allSettled([sender.send(entries('a')), sender.send(entries('b'))]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isDown = false;
    await sender.send(entries('c'));
    assert.deepEqual(requests, [['a', 'b'], ['c']]);
  });
});
