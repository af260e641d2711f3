/**
 * What the real handlers are composed of, judged by what they ask an AWS for: which table, which queue, which body.
 *
 * The clients, stores and queues are the deployed ones; only the far side answers from a book (recording-aws.ts).
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Context } from 'aws-lambda';
import { handler as deadLetter } from '../../../functions/dead-letter/handler.ts';
import { handler as fleet } from '../../../functions/fleet/handler.ts';
import { useSinks } from '../../../functions/middleware.ts';
import { handler as ingest } from '../../../functions/ingest/handler.ts';
import { handler as reconcile } from '../../../functions/reconcile/handler.ts';
import { handler as requeue } from '../../../functions/requeue/handler.ts';
import { handler as resync } from '../../../functions/resync/handler.ts';
import { decodeBody } from '../../../src/adapters/dynamodb/item-codec.ts';
import { WALK } from '../../../src/adapters/dynamodb/records.ts';
import { hintGroupId } from '../../../src/adapters/sqs/queue-ids.ts';
import { TALK_MS } from '../../../src/app/ingest/process/background-work.ts';
import { HOLD_RESERVE_MS } from '../../../src/app/resync/resync.ts';
import { WALK_RESERVE_MS } from '../../../src/app/resync/dependencies.ts';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { clusterId, clusterUid, epoch } from '../../../src/core/model/identifiers.ts';
import type { Incarnation } from '../../../src/core/model/identifiers.ts';
import { MESSAGE_SCHEMA } from '../../../src/core/model/watcher-message.ts';
import type { Hint, Timer } from '../../../src/core/model/hint.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';
import { functionEnvironment, startRecordingAws } from '../../support/recording-aws.ts';
import type { AwsCall, RecordingAws } from '../../support/recording-aws.ts';

const KEY = { cluster: clusterId('west'), namespace: 'agents', name: 'collector' };
const HINT: Hint = { schema: 1, key: KEY, clusterUid: clusterUid('uid-1'), reason: 'changed' };

/** What the stack reads of Lambda's context. */
const CONTEXT = {
  awsRequestId: 'request-1',
  getRemainingTimeInMillis: () => 30_000,
} as unknown as Context;

const REGISTRATION = {
  id: 'west',
  clusterUid: 'uid-1',
  mode: 'takeover',
  isFrozen: false,
  senderRoleId: 'AROAEXAMPLE',
  server: 'https://127.0.0.1:6443',
  authentication: { kind: 'bound-token', renewerRoleId: 'AROARENEWER' },
  labels: {},
};

const HEADER = {
  schema: MESSAGE_SCHEMA,
  cluster: KEY.cluster,
  clusterUid: clusterUid('uid-1'),
  epoch: epoch('3'),
  incarnation: 'pod-1' as Incarnation,
} as const;

interface Delivery {
  /** As it is sent, or what JSON makes of it. */
  readonly body: object | string;
  readonly queue: string;
  readonly group?: string;
}

/** An event with one record, as far as handlers read it. */
function eventOf({ body, queue, group = 'group' }: Delivery): never {
  const record = {
    messageId: 'message-1',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: { MessageGroupId: group, SentTimestamp: '1', SenderId: 'AROAEXAMPLE:someone' },
    messageAttributes: {},
    eventSourceARN: `arn:aws:sqs:eu-west-1:111111111111:rollcall-prod-${queue}`,
  };
  return { Records: [record] } as never;
}

function timerDueAt(dueAtMs: number): Timer {
  return { schema: 1, hint: HINT, timerId: 'timer-1', dueAtMs, hops: 0 };
}

describe('the deployed composition', () => {
  let aws: RecordingAws;
  before(async () => {
    aws = await startRecordingAws();
    Object.assign(process.env, functionEnvironment(aws.endpoint));
    const registered = { sk: 'CLUSTER', registration: REGISTRATION, configVersion: 1 };
    aws.hold('the-registry', 'CLUSTER#west', registered);
    aws.hold('the-registry', 'DIRECTORY#00', { sk: 'west' });
    useSinks({ log: new MemoryLog(), metrics: new MemoryMetrics() });
  });
  afterEach(() => {
    aws.forget();
    aws.refuseWhen(() => false);
  });
  after(() => {
    aws.close();
  });

  /** Queues that something was sent to, by the end of their URL, with the bodies. */
  const sends = (): readonly (readonly [string, unknown])[] =>
    aws.calls
      .filter(({ operation }) => operation === 'SendMessageBatch')
      .map(({ input }) => {
        const [entry] = input['Entries'] as readonly { readonly MessageBody: string }[];
        const url = String(input['QueueUrl']);
        return [url.slice(aws.endpoint.length), JSON.parse(entry?.MessageBody ?? '{}')];
      });

  /** Every item that was read, by its table. */
  const reads = (): readonly (readonly [string, string])[] => aws.calls.flatMap(readsOf);

  const tokensRead = (): readonly string[] =>
    reads()
      .map(([, partition]) => partition)
      .filter((partition) => partition.includes('CREDENTIAL#'));

  it('sends a timer that is due to the reconcile queue, and any other to the delay queue (protocol 12)', async () => {
    await requeue(eventOf({ body: timerDueAt(1), queue: 'delay' }), CONTEXT);
    assert.deepEqual(sends(), [['/reconcile.fifo', { ...HINT, reason: 'due' }]]);
    aws.forget();
    const later = timerDueAt(Date.now() + 3_600_000);
    await requeue(eventOf({ body: later, queue: 'delay' }), CONTEXT);
    assert.deepEqual(sends(), [['/delay', { ...later, hops: 1 }]]);
  });

  it('reads registrations from the registry, and what clusters say from the view', async () => {
    await requeue(eventOf({ body: timerDueAt(1), queue: 'delay' }), CONTEXT);
    assert.deepEqual(reads(), [['the-view', 'CLUSTER#uid-1']]);
    aws.forget();
    await reconcile(eventOf({ body: HINT, queue: 'reconcile.fifo' }), CONTEXT);
    const all = new Set(reads().map(([table, partition]) => `${table} ${partition}`));
    assert.ok(all.has('the-registry CLUSTER#west'), [...all].join(', '));
    aws.forget();
    await resync({} as never, CONTEXT);
    const walked = aws.calls.map(({ operation, input }) => [operation, input['TableName']]);
    assert.deepEqual(
      walked.map((one) => one.join(' ')).filter((one) => /Query|GetItem/.test(one)),
      // Its walk, the directory, one registration and its META.
      ['GetItem the-view', 'Query the-registry', 'GetItem the-registry', 'GetItem the-view'],
    );
  });

  it('reads what may lag where nothing is decided by it, and everything elsewhere as it is (ADR 0034)', async () => {
    await resync({} as never, CONTEXT);
    const asked = aws.calls.flatMap(consistencyOf);
    assert.ok(asked.length > 3, JSON.stringify(asked));
    assert.ok(asked.every(({ isStrict }) => !isStrict));
    for (const invoke of [
      () => reconcile(eventOf({ body: HINT, queue: 'reconcile.fifo' }), CONTEXT),
      () => requeue(eventOf({ body: timerDueAt(1), queue: 'delay' }), CONTEXT),
      () => fleet({} as never, CONTEXT),
    ]) {
      aws.forget();
      await invoke();
      const others = aws.calls.flatMap(consistencyOf);
      assert.ok(others.length > 0 && others.every(({ isStrict }) => isStrict));
    }
  });

  it('sends a hint that fails in a lane on alone, and lets it come again when it was alone (L4)', async () => {
    // The view cannot be read, and no timer is taken that would put it off.
    aws.refuseWhen(({ input }) => /"the-view"|\/delay"/.test(JSON.stringify(input)));
    const laned = { body: HINT, queue: 'reconcile.fifo', group: 'west/lane-01' };
    assert.deepEqual(await reconcile(eventOf(laned), CONTEXT), { batchItemFailures: [] });
    assert.deepEqual(sends().at(-1), ['/reconcile.fifo', HINT]);
    aws.forget();
    const alone = { ...laned, group: hintGroupId(KEY) };
    assert.deepEqual(await reconcile(eventOf(alone), CONTEXT), {
      batchItemFailures: [{ itemIdentifier: 'message-1' }],
    });
    assert.ok(sends().every(([queue]) => queue !== '/reconcile.fifo'));
  });

  it('reads the token that only asks, where it only asks (B.3)', async () => {
    // Where loopback addresses may be connected to; nobody listens there.
    process.env['ROLLCALL_STAGE'] = 'local';
    await resync({} as never, CONTEXT);
    assert.deepEqual(tokensRead(), ['REQUEST-CREDENTIAL#west']);
    const strict = aws.calls.flatMap(consistencyOf).filter(({ isStrict }) => isStrict);
    assert.deepEqual(strict, [{ of: 'REQUEST-CREDENTIAL#west', isStrict: true }], 'as it is');
  });

  it('reads the token that only asks for the snapshot that a lost message makes necessary (B.3)', async () => {
    process.env['ROLLCALL_STAGE'] = 'local';
    const lost = encodeWatcherMessage({ ...HEADER, seq: 7, body: { kind: 'changes', deltas: [] } });
    await ingest(eventOf({ body: lost, queue: 'events.fifo', group: 'west' }), CONTEXT);
    assert.deepEqual(tokensRead(), ['REQUEST-CREDENTIAL#west']);
  });

  it('reads no token for an endpoint that the deployment allows nobody (S12)', async () => {
    process.env['ROLLCALL_STAGE'] = 'prod';
    await resync({} as never, CONTEXT);
    assert.deepEqual(tokensRead(), []);
  });

  it('writes nothing of a body that is no timer', async () => {
    const body = 'x'.repeat(20_000);
    const answer = await requeue(eventOf({ body, queue: 'delay' }), CONTEXT);
    assert.deepEqual(answer, { batchItemFailures: [] });
    assert.deepEqual(aws.calls, []);
  });

  it('walks no longer than it has time to write down what it did (protocol 23)', async () => {
    const beganAtMs = Date.now();
    await resync({} as never, CONTEXT);
    const [begun] = aws.calls.filter(
      ({ operation, input }) =>
        operation === 'UpdateItem' && JSON.stringify(input).includes('RESYNC#'),
    );
    const values = Object.values(begun?.input['ExpressionAttributeValues'] ?? {}) as {
      B?: string;
    }[];
    const [body] = values.flatMap(({ B: text }) => (text === undefined ? [] : [text]));
    const walk = decodeBody(WALK.keyOf(), Buffer.from(body ?? '', 'base64')) as {
      heldUntilMs: number;
    };
    const heldMs = walk.heldUntilMs - HOLD_RESERVE_MS;
    assert.ok(heldMs <= Date.now() + 30_000 - WALK_RESERVE_MS);
    assert.ok(heldMs > beganAtMs, 'and it is held until then');
  });

  it('has the timer come again that could not be sent on, and not the unreadable one before it', async () => {
    aws.refuseWhen(({ input }) => /reconcile\.fifo"|\/delay"/.test(JSON.stringify(input)));
    const bodies = ['no timer', timerDueAt(1)];
    const Records = bodies.flatMap((body, index) => {
      const event = eventOf({ body, queue: 'delay' }) as { Records: object[] };
      return event.Records.map((record) => ({ ...record, messageId: `message-${index + 1}` }));
    });
    const answer = await requeue({ Records } as never, CONTEXT);
    assert.deepEqual(answer, { batchItemFailures: [{ itemIdentifier: 'message-2' }] });
  });

  it('begins no second message without time for an API server that does not answer (protocol 23)', async () => {
    const message = { ...HEADER, seq: 7, body: { kind: 'changes', deltas: [] } } as const;
    const body = encodeWatcherMessage(message);
    const event = eventOf({ body, queue: 'events.fifo', group: 'west' }) as { Records: object[] };
    const [first] = event.Records;
    const both = { Records: [first, { ...first, messageId: 'message-2' }] } as never;
    const late = { ...CONTEXT, getRemainingTimeInMillis: () => TALK_MS + 500 };
    assert.deepEqual(await ingest(both, late), {
      batchItemFailures: [{ itemIdentifier: 'message-2' }],
    });
  });

  it('has the key of a lost hint, and of a lost timer, looked at again by a timer (protocol 12)', async () => {
    const lost = [
      { body: HINT, queue: 'reconcile-dead-letter.fifo' },
      { body: timerDueAt(1), queue: 'delay-dead-letter' },
    ];
    for (const delivery of lost) {
      aws.forget();
      await deadLetter(eventOf(delivery), CONTEXT);
      const [[queue, timer] = []] = sends();
      assert.equal(queue, '/delay', delivery.queue);
      assert.deepEqual((timer as Timer).hint.key, KEY);
      assert.ok(!aws.calls.some(({ operation }) => operation === 'PutItem'), 'nothing is kept');
    }
  });
});

/** Each read, by its partition or what it asks for, and whether it is strongly consistent. */
function consistencyOf(
  call: AwsCall,
): readonly { readonly of: string; readonly isStrict: boolean }[] {
  const { operation, input } = call;
  if (operation === 'Query') return [{ of: 'a page', isStrict: input['ConsistentRead'] === true }];
  const strict = JSON.stringify(input).includes('"ConsistentRead":true');
  return readsOf(call).map(([, of]) => ({ of, isStrict: strict }));
}

function readsOf({ operation, input }: AwsCall): readonly (readonly [string, string])[] {
  const partitionOf = (key: unknown): string => (key as { pk: { S: string } }).pk.S;
  if (operation === 'GetItem') return [[String(input['TableName']), partitionOf(input['Key'])]];
  if (operation !== 'BatchGetItem') return [];
  const tables = input['RequestItems'] as Readonly<Record<string, { Keys: readonly unknown[] }>>;
  return Object.entries(tables).flatMap(([table, { Keys }]) =>
    Keys.map((key) => [table, partitionOf(key)] as const),
  );
}
