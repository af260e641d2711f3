/**
 * Which implementations of EventBridge the suite runs against, how events are read back from each, and where a reference differs from AWS.
 *
 * Our own has no differences: it must pass everything.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { startEventsServer } from '@rollcall/local-aws/events/server.ts';
import { TOOLS, type ToolRequirement } from '../../support/require-tool.ts';
import type { KnownDifferences } from './check.ts';
import { EventBench, askAws, type Envelope } from './event-bench.ts';
import { startMiniStack } from './reference-servers.ts';

export interface EventImplementation {
  readonly name: string;
  readonly tools: readonly ToolRequirement[];
  readonly start: () => Promise<{ readonly bench: EventBench; readonly stop: () => Promise<void> }>;
  readonly differences: KnownDifferences;
}

/** Our own bus. */
export const ownBus: EventImplementation = {
  name: 'the own event bus',
  tools: [],
  start: async () => {
    const server = await startEventsServer({
      clock: createSystemClock(),
      newId: randomUUID,
    });
    const read = (source: string): Promise<readonly Envelope[]> =>
      Promise.resolve(
        server
          .events()
          .filter((event) => event.source === source)
          .map((event) => ({ ...event })),
      );
    return { bench: new EventBench(server.endpoint, read), stop: () => server.stop() };
  },
  differences: {},
};

/** Events of the default bus go to a queue; a rule takes them all. */
async function startMiniStackBus(): ReturnType<EventImplementation['start']> {
  const server = await startMiniStack();
  const { endpoint } = server;
  const ask = async (target: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await askAws(endpoint, target, body);
    assert.equal(answer['status'], 200, `${target}: ${JSON.stringify(answer)}`);
    return answer['body'] as Readonly<Record<string, unknown>>;
  };
  const { QueueUrl } = await ask('AmazonSQS.CreateQueue', { QueueName: 'events' });
  const { Attributes } = await ask('AmazonSQS.GetQueueAttributes', {
    QueueUrl,
    AttributeNames: ['QueueArn'],
  });
  const { QueueArn: Arn } = Attributes as { readonly QueueArn: string };
  const EventPattern = JSON.stringify({ source: [{ prefix: '' }] });
  await ask('AWSEvents.PutRule', { Name: 'all', EventPattern });
  await ask('AWSEvents.PutTargets', { Rule: 'all', Targets: [{ Id: 'queue', Arn }] });
  const seen: Envelope[] = [];
  const read = async (source: string): Promise<readonly Envelope[]> => {
    for (;;) {
      const { Messages = [] } = await ask('AmazonSQS.ReceiveMessage', {
        ...{ QueueUrl, MaxNumberOfMessages: 10 },
        WaitTimeSeconds: 1,
      });
      const messages = Messages as readonly {
        readonly Body: string;
        readonly ReceiptHandle: string;
      }[];
      if (messages.length === 0) return seen.filter((event) => event['source'] === source);
      for (const { Body, ReceiptHandle } of messages) {
        seen.push(JSON.parse(Body) as Envelope);
        await ask('AmazonSQS.DeleteMessage', { QueueUrl, ReceiptHandle });
      }
    }
  };
  return { bench: new EventBench(endpoint, read), stop: () => server.stop() };
}

/** Those of others. */
export const eventReferences: readonly EventImplementation[] = [
  {
    name: 'MiniStack 1.5.33 (EventBridge)',
    tools: [TOOLS.python],
    start: startMiniStackBus,
    differences: {
      'no entries are refused': 'no entries are accepted',
      'a detail that is no JSON object is malformed': 'any text is taken for a detail',
      'an entry without a source, a type or a detail is an invalid argument':
        'what is missing is taken for empty',
      'a request of more than 256 KB is refused whole': 'sizes are not looked at',
    },
  },
];
