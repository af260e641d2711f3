// Creates the queues that a template declares, through the SDK, on any SQS endpoint.
//
// Dead-letter queues come first, because a redrive policy names one by its ARN. A queue that is there already (data
// on disk) gets the declared attributes, so that an edited template takes effect at the next start.
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  QueueNameExists,
  SetQueueAttributesCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { CreatedQueue } from '../event-source-mapping/declarations.ts';
import type { QueueDeclaration } from '../template/service.ts';

/** Creates or updates each queue; the result is by logical id. */
export async function createQueues(
  client: SQSClient,
  queues: readonly QueueDeclaration[],
): Promise<ReadonlyMap<string, CreatedQueue>> {
  const created = new Map<string, CreatedQueue>();
  const targetsFirst = [
    ...queues.filter(({ redrive }) => redrive === undefined),
    ...queues.filter(({ redrive }) => redrive !== undefined),
  ];
  for (const queue of targetsFirst) {
    const attributes: Record<string, string> = { ...queue.attributes };
    if (queue.redrive !== undefined) {
      const target = created.get(queue.redrive.queueId);
      if (target === undefined) throw new Error(`${queue.id} names no dead-letter queue`);
      attributes['RedrivePolicy'] = JSON.stringify({
        deadLetterTargetArn: target.arn,
        maxReceiveCount: queue.redrive.maxReceiveCount,
      });
    }
    const url = await createQueue(client, queue.name, attributes);
    created.set(queue.id, { id: queue.id, name: queue.name, url, arn: await arnOf(client, url) });
  }
  return created;
}

async function createQueue(
  client: SQSClient,
  name: string,
  attributes: Record<string, string>,
): Promise<string> {
  try {
    const answer = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
    );
    return requireText(answer.QueueUrl, 'QueueUrl');
  } catch (error) {
    if (!(error instanceof QueueNameExists)) throw error;
    const answer = await client.send(new GetQueueUrlCommand({ QueueName: name }));
    const url = requireText(answer.QueueUrl, 'QueueUrl');
    await client.send(new SetQueueAttributesCommand({ QueueUrl: url, Attributes: attributes }));
    return url;
  }
}

async function arnOf(client: SQSClient, url: string): Promise<string> {
  const answer = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn'] }),
  );
  return requireText(answer.Attributes?.['QueueArn'], 'QueueArn');
}

function requireText(text: string | undefined, what: string): string {
  if (text === undefined) throw new Error(`the endpoint answered without ${what}`);
  return text;
}
