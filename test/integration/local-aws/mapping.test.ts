/** Event-source mappings: what is deleted, what comes back, what runs side by side. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ScheduledEvent, SQSEvent, SQSRecord } from 'aws-lambda';
import {
  eventually,
  functionTimeoutMs,
  newGate,
  startWork,
  turn,
  visibilityMs,
  type Gate,
  type Work,
} from './local-aws-fixture.ts';

function bodiesOf(event: SQSEvent): string {
  return event.Records.map((record) => record.body).join(' ');
}

function failing(event: SQSEvent, bodies: readonly string[]): unknown {
  return {
    batchItemFailures: event.Records.filter((record) => bodies.includes(record.body)).map(
      (record) => ({ itemIdentifier: record.messageId }),
    ),
  };
}

describe('a mapping', () => {
  it('invokes with Lambda’s event, and deletes what succeeded', async (context) => {
    const records: SQSRecord[] = [];
    const work = await startWork(context, (event) => void records.push(...event.Records), {
      senderId: 'AROAWATCHER:cluster-a',
    });
    await work.send('hello');
    await eventually(() => records.length === 1, 'the invocation');
    const { messageId, receiptHandle, ...rest } = records[0] ?? assert.fail();
    assert.match(messageId, /^[0-9a-z]+$/);
    assert.ok(receiptHandle.startsWith(messageId));
    const sentAtMs = String(work.clock.nowMs());
    assert.deepEqual(rest, {
      body: 'hello',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: sentAtMs,
        SenderId: 'AROAWATCHER:cluster-a',
        ApproximateFirstReceiveTimestamp: sentAtMs,
        MessageGroupId: 'g',
        MessageDeduplicationId: '1',
        SequenceNumber: '10000000000000000001',
      },
      messageAttributes: {},
      md5OfBody: '5d41402abc4b2a76b9719d911017c592',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:work-test.fifo',
      awsRegion: 'us-east-1',
    });
    await eventually(async () => (await work.countMessages()).inFlight === 0, 'the delete');
    await work.clock.advance(visibilityMs);
    await turn();
    assert.equal(records.length, 1);
  });

  it('leaves a batch invisible when the function throws, and tries it again after that', async (context) => {
    const seen: string[] = [];
    const work = await startWork(context, (event) => {
      seen.push(bodiesOf(event));
      if (seen.length === 1) throw new Error('broken');
    });
    await work.send('a');
    await eventually(() => work.failures.length === 1, 'the failure');
    await work.clock.advance(visibilityMs - 1);
    await turn();
    assert.deepEqual(seen, ['a']);
    await work.clock.advance(1);
    await eventually(() => seen.length === 2, 'the second delivery');
    await eventually(async () => (await work.countMessages()).inFlight === 0, 'the delete');
  });

  it('brings back only the messages that were reported as failed', async (context) => {
    const seen: string[] = [];
    const gate = newGate();
    const work = await startWork(context, async (event) => {
      seen.push(bodiesOf(event));
      if (seen.length === 1) await gate.opened;
      return seen.length <= 2 ? failing(event, ['b2', 'b3']) : undefined;
    });
    await work.send('first', 'b');
    await eventually(() => seen.length === 1, 'the first delivery');
    for (const body of ['b1', 'b2', 'b3']) await work.send(body, 'b');
    gate.open();
    await eventually(() => seen.length === 2, 'the batch');
    await eventually(async () => (await work.countMessages()).inFlight === 2, 'the partial delete');
    await work.clock.advance(visibilityMs);
    await eventually(() => seen.length === 3, 'the rest');
    assert.deepEqual(seen, ['first', 'b1 b2 b3', 'b2 b3']);
  });

  it('fails the whole batch when the answer names an unknown message', async (context) => {
    const seen: string[] = [];
    const work = await startWork(context, (event) => {
      seen.push(bodiesOf(event));
      return seen.length === 1 ? { batchItemFailures: [{ itemIdentifier: 'unknown' }] } : undefined;
    });
    await work.send('a');
    await eventually(() => work.failures.length === 1, 'the failure');
    assert.match(work.failures[0]?.message ?? '', /malformed/);
    await work.clock.advance(visibilityMs);
    await eventually(() => seen.length === 2, 'the second delivery');
  });

  it('gives up on a function at its timeout, though the function goes on', async (context) => {
    const gate = newGate();
    let count = 0;
    const work = await startWork(context, async () => {
      count += 1;
      if (count === 1) await gate.opened;
    });
    await work.send('slow');
    await eventually(() => count === 1, 'the invocation');
    await work.clock.advance(functionTimeoutMs);
    await eventually(() => work.aws.counts.timedOut === 1, 'the timeout');
    assert.equal(work.aws.counts.zombies, 1);
    await work.clock.advance(visibilityMs - functionTimeoutMs);
    await eventually(() => count === 2, 'the second delivery, while the first still runs');
    gate.open();
    await eventually(() => work.aws.counts.zombies === 0, 'the end of the zombie');
  });

  it('moves a poisonous message to the dead-letter queue, and then delivers the next', async (context) => {
    const seen: string[] = [];
    const options = { batchSize: 1, maxReceiveCount: 2 };
    const work = await startWork(context, runOnce, options);
    function runOnce(event: SQSEvent): void {
      seen.push(bodiesOf(event));
      if (bodiesOf(event) === 'poison') throw new Error('poison');
    }
    await work.send('poison');
    await work.send('good');
    for (const failures of [1, 2]) {
      await eventually(() => work.failures.length === failures, `failure ${failures}`);
      await work.clock.advance(visibilityMs);
    }
    await eventually(() => seen.length === 3, 'the message behind it');
    assert.deepEqual(seen, ['poison', 'poison', 'good']);
    assert.equal((await work.countMessages('Dead')).visible, 1);
  });
});

describe('concurrency of a mapping', () => {
  it('works on groups in parallel up to maximumConcurrency, and never twice on one group', async (context) => {
    const running = new Map<string, Gate>();
    let done = 0;
    let runningMax = 0;
    const work = await startWork(
      context,
      async (event) => {
        const [record] = event.Records;
        const groupId = record?.attributes.MessageGroupId ?? '';
        assert.ok(!running.has(groupId), `two invocations for ${groupId}`);
        const gate = newGate();
        running.set(groupId, gate);
        runningMax = Math.max(runningMax, running.size);
        await gate.opened;
        running.delete(groupId);
        done += 1;
      },
      { batchSize: 1, maximumConcurrency: 3 },
    );
    for (let index = 0; index < 12; index += 1) {
      await work.send(String(index), `group-${String(index % 6)}`);
    }
    await eventually(() => running.size === 3, 'three groups');
    await turn();
    assert.equal(running.size, 3);
    await eventually(() => {
      for (const gate of running.values()) gate.open();
      return done === 12;
    }, 'all messages');
    assert.equal(runningMax, 3);
    assert.deepEqual(work.failures, []);
  });

  it('takes several groups into one batch, each in order', async (context) => {
    const gate = newGate();
    const batches: SQSRecord[][] = [];
    const work = await startWork(
      context,
      async (event) => {
        batches.push(event.Records);
        await gate.opened;
      },
      { maximumConcurrency: 2 },
    );
    await work.send('block', 'x');
    await eventually(() => batches.length === 1, 'a busy invocation');
    await work.send('block', 'y');
    await eventually(() => batches.length === 2, 'two busy invocations');
    for (let index = 0; index < 12; index += 1) await work.send(String(index), `g${index % 3}`);
    gate.open();
    await eventually(() => batches.flat().length === 14, 'everything');
    assert.ok(batches.every((batch) => batch.length <= 10));
    const [, , mixed = []] = batches;
    assert.ok(new Set(mixed.map((record) => record.attributes.MessageGroupId)).size > 1);
    for (const groupId of ['g0', 'g1', 'g2']) {
      const order = batches
        .flat()
        .filter((record) => record.attributes.MessageGroupId === groupId)
        .map((record) => Number(record.body));
      assert.deepEqual(
        order,
        order.toSorted((left, right) => left - right),
      );
    }
  });

  it('does not poll while nothing happens', async (context) => {
    const work = await startWork(context, () => undefined);
    await work.send('a');
    await eventually(async () => (await work.countMessages()).inFlight === 0, 'the delete');
    await turn();
    const asked = noteAsked(work);
    await turn();
    assert.equal(asked.length, 0);
    await work.clock.advance(20_000);
    await turn();
    assert.deepEqual(asked, Array<string>(5).fill('sqs:ReceiveMessage'));
  });

  it('asks no faster for being refused', async (context) => {
    const work = await startWork(context, () => undefined);
    const { accessKeyId } = work.aws.credentialsOf('work');
    work.aws.authorizer.grant(accessKeyId, { arn: 'arn:nobody', rights: [] });
    const asked = noteAsked(work);
    await work.clock.advance(20_000);
    assert.equal(asked.length, 5, 'each parked receive is over');
    for (let more = 1; more <= 10; more += 1) await work.clock.advance(200);
    await turn();
    assert.equal(asked.length, 55);
    assert.equal(work.failures.length, 55);
  });
});

/** Every right that is asked for from now on. */
function noteAsked({ aws: { authorizer } }: Work): readonly string[] {
  const asked: string[] = [];
  const decide = authorizer.decide.bind(authorizer);
  authorizer.decide = (accessKey, request) => {
    asked.push(request.action);
    return decide(accessKey, request);
  };
  return asked;
}

describe('a schedule', () => {
  it('fires once in each period, and when it is asked to', async (context) => {
    const times: string[] = [];
    const onTick = (event: ScheduledEvent): void => void times.push(event.time);
    const work = await startWork(context, () => undefined, { onTick });
    await work.clock.advance(59_999);
    assert.equal(times.length, 0);
    await work.clock.advance(1);
    await work.clock.advance(60_000);
    assert.deepEqual(times, ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z']);
    await work.aws.fireSchedule('tick');
    assert.equal(times.length, 3);
  });
});
