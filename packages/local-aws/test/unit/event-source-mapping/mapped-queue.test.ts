/** A queue as its mapping asks it, with the queue service itself on virtual time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MappedQueue } from '../../../src/event-source-mapping/mapped-queue.ts';
import { SqsError } from '../../../src/sqs/queue/errors.ts';
import { QueueService } from '../../../src/sqs/server/queue-service.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const queueUrl = 'http://127.0.0.1:1/000000000000/work';
const accessKey = 'anybody';

function start() {
  const clock = new VirtualClock();
  let ids = 0;
  const service = new QueueService({
    clock,
    newId: () => `id${String((ids += 1))}`,
    region: 'us-east-1',
    endpointOf: () => 'http://127.0.0.1:1',
  });
  const call = (name: string, fields: object): object | undefined =>
    service.perform({ accessKey, name, fields: { ...fields } });
  call('CreateQueue', { QueueName: 'work', Attributes: { VisibilityTimeout: '30' } });
  const queue = new MappedQueue({ service, accessKey, queueUrl });
  const leave = new AbortController();
  return {
    ...{ clock, queue, leave },
    send: (MessageBody: string) => call('SendMessage', { QueueUrl: queueUrl, MessageBody }),
    receive: (signal = leave.signal) => queue.receive({ countMax: 10, waitSeconds: 20, signal }),
  };
}

describe('a mapped queue', () => {
  it('tells how long a message is left to whoever received it', () => {
    assert.equal(start().queue.visibilityMs(), 30_000);
  });

  it('waits for the first message, and deletes it for good', async () => {
    const { clock, queue, send, receive } = start();
    const received = receive();
    send('a');
    const [message, ...others] = await received;
    assert.equal(message?.Body, 'a');
    assert.equal(others.length, 0);
    assert.deepEqual(queue.delete([message.ReceiptHandle]), []);
    await clock.advance(30_000);
    const later = receive();
    await clock.advance(20_000);
    assert.deepEqual(await later, []);
  });

  it('takes no message once nobody wants it', async () => {
    const { leave, send, receive } = start();
    const received = receive();
    leave.abort();
    assert.deepEqual(await received, []);
    send('a');
    assert.deepEqual(await receive(), [], 'it has ended');
    const next = new AbortController();
    const [message] = await receive(next.signal);
    assert.equal(message?.Body, 'a', 'left for whoever comes next');
  });

  it('says which delete was refused, and why', () => {
    const [refusal, ...others] = start().queue.delete(['no handle']);
    assert.match(refusal ?? '', /handle/i);
    assert.equal(others.length, 0);
  });

  it('rejects as any caller is refused', async () => {
    const { leave } = start();
    const service = new QueueService({
      clock: new VirtualClock(),
      newId: () => 'id',
      region: 'us-east-1',
      endpointOf: () => '',
    });
    const missing = new MappedQueue({ service, accessKey, queueUrl });
    assert.throws(() => missing.visibilityMs(), SqsError);
    const poll = { countMax: 1, waitSeconds: 0, signal: leave.signal };
    await assert.rejects(missing.receive(poll), SqsError);
  });
});
