/**
 * How many messages stand in a queue, as SQS tells it: about. Takes none away, and locks no group.
 */
import { GetQueueAttributesCommand, QueueDoesNotExist, type SQSClient } from '@aws-sdk/client-sqs';

export type InspectedQueue =
  | { readonly kind: 'missing' }
  | { readonly kind: 'found'; readonly waiting: number; readonly inFlight: number };

/** Looks at a queue. Rejects when SQS refuses or does not answer. */
export async function inspectQueue(client: SQSClient, url: string): Promise<InspectedQueue> {
  try {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: url,
        AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
      }),
    );
    return {
      kind: 'found',
      waiting: Number(Attributes['ApproximateNumberOfMessages'] ?? '0'),
      inFlight: Number(Attributes['ApproximateNumberOfMessagesNotVisible'] ?? '0'),
    };
  } catch (error) {
    if (error instanceof QueueDoesNotExist) return { kind: 'missing' };
    throw error;
  }
}
