/**
 * A local AWS with one function on one queue and one on a schedule, on virtual time.
 *
 * HTTP runs in real time, everything that waits (visibility, delays, deadlines, schedules) in virtual time, so a test
 * says when a minute has passed and never sleeps. `eventually` lets the event loop turn until a condition holds.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, ScheduledEvent, SQSEvent } from 'aws-lambda';
import type { FaultOptions } from '@rollcall/local-aws/event-source-mapping/faults.ts';
import type { EngineFailure } from '@rollcall/local-aws/event-source-mapping/mapping-set.ts';
import { startLocalAws, type LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { settle, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** Visibility of the queues under test. */
export const visibilityMs = 60_000;
/** Timeout of the function under test. */
export const functionTimeoutMs = 10_000;

const senderKey = 'TESTKEY';
const watcherRoleFile = new URL('../../../infra/cluster/roles.yml', import.meta.url).pathname;
/** Real time: beyond any stall of the machine, below the time-out of a test. */
const eventuallyBoundMs = 120_000;

export interface WorkOptions {
  readonly isFifo?: boolean;
  readonly batchSize?: number;
  readonly maximumConcurrency?: number;
  readonly maxReceiveCount?: number;
  readonly faults?: FaultOptions & { readonly seed: number };
  /** What the queue says of who sends. */
  readonly senderId?: string;
  readonly dataDirectory?: string;
  /** The function of the schedule. */
  readonly onTick?: (event: ScheduledEvent) => void;
}

export type WorkHandler = (event: SQSEvent, context: Context) => unknown;

export interface Work {
  readonly aws: LocalAws;
  readonly clock: VirtualClock;
  readonly failures: EngineFailure[];
  send(body: string, groupId?: string): Promise<void>;
  countMessages(queueId?: string): Promise<{ visible: number; inFlight: number }>;
}

function serviceText(options: WorkOptions): string {
  const suffix = options.isFifo === false ? '' : '.fifo';
  const fifo = options.isFifo === false ? '' : 'FifoQueue: true';
  const concurrency =
    options.maximumConcurrency === undefined
      ? ''
      : `maximumConcurrency: ${options.maximumConcurrency}`;
  return `
service: test
provider: { name: aws, stage: "\${opt:stage, 'dev'}", region: us-east-1 }
functions:
  work:
    handler: none
    role: WorkRole
    timeout: ${functionTimeoutMs / 1000}
    events:
      - sqs:
          arn: !GetAtt Work.Arn
          batchSize: ${options.batchSize ?? 10}
          functionResponseType: ReportBatchItemFailures
          ${concurrency}
  tick:
    handler: none
    role: TickRole
    timeout: ${functionTimeoutMs / 1000}
    events:
      - schedule: { rate: rate(1 minute) }
resources:
  - Resources:
      WorkRole:
        Type: AWS::IAM::Role
        Properties:
          AssumeRolePolicyDocument: {}
          Policies:
            - PolicyName: work
              PolicyDocument:
                Version: '2012-10-17'
                Statement:
                  - Effect: Allow
                    Action: [sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueAttributes]
                    Resource: !GetAtt Work.Arn
      TickRole:
        Type: AWS::IAM::Role
        Properties: { AssumeRolePolicyDocument: {}, Policies: [] }
      Work:
        Type: AWS::SQS::Queue
        Properties:
          QueueName: work-\${sls:stage}${suffix}
          ${fifo}
          VisibilityTimeout: ${visibilityMs / 1000}
          RedrivePolicy:
            deadLetterTargetArn: !GetAtt Dead.Arn
            maxReceiveCount: ${options.maxReceiveCount ?? 10}
      Dead:
        Type: AWS::SQS::Queue
        Properties:
          QueueName: dead-\${sls:stage}${suffix}
          ${fifo}
`;
}

export function temporaryDirectory(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-local-aws-'));
  context.after(() => {
    rmSync(directory, { recursive: true });
  });
  return directory;
}

const senderRole = {
  roleFile: watcherRoleFile,
  roleId: 'WatcherRole',
  queueParameter: 'EventsQueueArn',
  queueId: 'Work',
};

/** Starts a local AWS whose one function is `handler`; it stops with the test. */
export async function startWork(
  context: TestContext,
  handler: WorkHandler,
  options: WorkOptions = {},
): Promise<Work> {
  const serverlessFile = path.join(temporaryDirectory(context), 'serverless.yml');
  writeFileSync(serverlessFile, serviceText(options));
  const clock = new VirtualClock();
  const failures: EngineFailure[] = [];
  const aws = await startLocalAws({
    serverlessFile,
    stage: 'test',
    clock,
    onFailure: (failure) => failures.push(failure),
    dataDirectory: options.dataDirectory,
    faults: options.faults,
    senders: {
      ids: new Map([[senderKey, options.senderId ?? 'AROATEST:test']]),
      ...senderRole,
    },
  });
  const client = new SQSClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    credentials: aws.authorizer.credentialsOf(senderKey),
  });
  const operator = new SQSClient({
    region: aws.region,
    endpoint: aws.sqsEndpoint,
    credentials: aws.operator,
  });
  context.after(async () => {
    client.destroy();
    operator.destroy();
    const stopped = aws.stop({ waitMs: 0 });
    await Promise.all([stopped, clock.advance(1)]);
  });
  aws.startMappings({ work: handler, tick: options.onTick ?? (() => undefined) });
  let sendCount = 0;
  return {
    aws,
    clock,
    failures,
    send: async (body, groupId = 'g') => {
      sendCount += 1;
      const fifo = { MessageGroupId: groupId, MessageDeduplicationId: String(sendCount) };
      await client.send(
        new SendMessageCommand({
          QueueUrl: aws.queueUrls['Work'],
          MessageBody: body,
          ...(options.isFifo !== false && fifo),
        }),
      );
    },
    countMessages: async (queueId = 'Work') => {
      const { Attributes: attributes } = await operator.send(
        new GetQueueAttributesCommand({
          QueueUrl: aws.queueUrls[queueId],
          AttributeNames: ['All'],
        }),
      );
      return {
        visible: Number(attributes?.['ApproximateNumberOfMessages']),
        inFlight: Number(attributes?.['ApproximateNumberOfMessagesNotVisible']),
      };
    },
  };
}

/** Lets the event loop turn until the condition holds. */
export async function eventually(
  isReached: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const startMs = performance.now();
  while (!(await isReached())) {
    if (performance.now() - startMs > eventuallyBoundMs) {
      throw new Error(`not reached within ${eventuallyBoundMs} ms: ${what}`);
    }
    await settle();
  }
}

/** Lets the event loop turn a few times, to see that nothing happens. */
export async function turn(): Promise<void> {
  for (let count = 0; count < 200; count += 1) await settle();
}

export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function newGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return {
    opened: promise,
    open: () => {
      resolve(undefined);
    },
  };
}
