/** Data on disk: killed at any point, nothing that was acknowledged is lost, and one process holds the directory. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { eventually, newGate, startWork, temporaryDirectory } from './local-aws-fixture.ts';

const serverlessFile = fileURLToPath(new URL('../../../serverless.yml', import.meta.url));
const childFile = fileURLToPath(new URL('restart-child.ts', import.meta.url));

interface Acknowledged {
  readonly sent: Set<string>;
  readonly deleted: Set<string>;
  readonly stored: Set<string>;
}

/** Runs the child until it has said `lineCount` lines, then kills it. */
async function runAndKill(dataDirectory: string, lineCount: number): Promise<Acknowledged> {
  const child = spawn(process.execPath, [childFile, dataDirectory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    said.push(line);
    if (said.length === lineCount) child.kill('SIGKILL');
  }
  const [, signal] = (await exited) as [number | null, string | null];
  assert.equal(signal, 'SIGKILL', `the child ended by itself after ${said.join(', ')}`);
  const withWord = (word: string): Set<string> =>
    new Set(
      said.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1)),
    );
  return { sent: withWord('sent'), deleted: withWord('deleted'), stored: withWord('stored') };
}

async function startProject(dataDirectory: string): Promise<LocalAws> {
  return startLocalAws({ serverlessFile, stage: 'test', dataDirectory });
}

function clientOptions({ operator }: LocalAws, endpoint: string) {
  return { region: 'us-east-1', endpoint, credentials: operator };
}

/** Everything in the events queue; deleted on the way, because a received message hides those behind it. */
async function receiveAll(aws: LocalAws, sqs: SQSClient): Promise<Set<string>> {
  const bodies = new Set<string>();
  const QueueUrl = aws.queueUrls['EventsQueue'];
  for (;;) {
    const { Messages: messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: 10,
        VisibilityTimeout: 1000,
      }),
    );
    if (messages.length === 0) return bodies;
    for (const { Body: body, ReceiptHandle } of messages) {
      bodies.add(body ?? '');
      await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
    }
  }
}

async function checkAfterKill(context: TestContext, lineCount: number): Promise<void> {
  const dataDirectory = temporaryDirectory(context);
  const acknowledged = await runAndKill(dataDirectory, lineCount);
  const aws = await startProject(dataDirectory);
  const sqs = new SQSClient(clientOptions(aws, aws.sqsEndpoint));
  const dynamoDb = new DynamoDBClient(clientOptions(aws, aws.dynamodbEndpoint));
  try {
    const lastSent = [...acknowledged.sent].at(-1);
    if (lastSent !== undefined) {
      // A repeat across the restart is still a repeat: this adds nothing to the queue.
      await sqs.send(
        new SendMessageCommand({
          QueueUrl: aws.queueUrls['EventsQueue'],
          MessageBody: 'repeat',
          MessageGroupId: `g${String(Number(lastSent) % 7)}`,
          MessageDeduplicationId: lastSent,
        }),
      );
    }
    const found = await receiveAll(aws, sqs);
    assert.ok(!found.has('repeat'), 'deduplication was forgotten');
    for (const body of acknowledged.sent) {
      if (acknowledged.deleted.has(body)) assert.ok(!found.has(body), `${body} came back`);
    }
    const missing = [...acknowledged.sent].filter(
      (body) => !found.has(body) && !acknowledged.deleted.has(body),
    );
    // One delete may have been done without its answer having arrived.
    assert.ok(missing.length <= 1, `lost messages ${missing.join(', ')}`);
    const { Items: items = [] } = await dynamoDb.send(
      new ScanCommand({ TableName: aws.tableNames['ViewTable'] ?? '' }),
    );
    const stored = new Set(items.map((item) => item['pk']?.S?.slice('item-'.length)));
    for (const text of acknowledged.stored) assert.ok(stored.has(text), `lost item ${text}`);
  } finally {
    sqs.destroy();
    dynamoDb.destroy();
    await aws.stop();
  }
}

describe('a data directory', () => {
  it('holds everything that was acknowledged, after a kill at any point', async (context) => {
    const seed = Number(process.env['ROLLCALL_TEST_SEED'] ?? '11');
    context.diagnostic(`replay: ROLLCALL_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    for (let round = 0; round < 5; round += 1) {
      await checkAfterKill(context, 2 + Math.floor(random.next() * 120));
    }
  });

  it('is held by one process', async (context) => {
    const dataDirectory = temporaryDirectory(context);
    const child = spawn(process.execPath, [childFile, dataDirectory], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    await assert.rejects(startProject(dataDirectory), /in use by process/);
    child.kill('SIGKILL');
    await exited;
    await (await startProject(dataDirectory)).stop();
  });

  it('delivers again what was in work when the engine stopped', async (context) => {
    const dataDirectory = temporaryDirectory(context);
    const gate = newGate();
    let startCount = 0;
    const first = await startWork(
      context,
      () => {
        startCount += 1;
        return gate.opened;
      },
      { dataDirectory },
    );
    await first.send('interrupted');
    await eventually(() => startCount === 1, 'the invocation');
    const stopped = first.aws.stop({ waitMs: 1000 });
    await first.clock.advance(1000);
    await stopped;
    const counts: string[] = [];
    const second = await startWork(
      context,
      (event) => {
        counts.push(event.Records[0]?.attributes.ApproximateReceiveCount ?? '');
      },
      { dataDirectory },
    );
    await eventually(() => counts.length === 1, 'the second delivery');
    assert.deepEqual(counts, ['2']);
    gate.open();
    await eventually(async () => (await second.countMessages()).inFlight === 0, 'the delete');
  });

  it('takes over queue attributes that were edited', async (context) => {
    const dataDirectory = temporaryDirectory(context);
    const first = await startWork(context, () => undefined, { dataDirectory });
    await first.aws.stop();
    const failures: string[] = [];
    const second = await startWork(
      context,
      () => {
        failures.push('failed');
        throw new Error('poison');
      },
      { dataDirectory, maxReceiveCount: 1 },
    );
    await second.send('poison');
    await eventually(() => failures.length === 1, 'the delivery');
    await second.clock.advance(60_000);
    await eventually(
      async () => (await second.countMessages('Dead')).visible === 1,
      'the dead letter after one receive',
    );
  });
});
