/** Deliveries of the simulated queues as the event that Lambda invokes a function with. */
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import type { Delivery } from '@rollcall/local-aws/sqs/queue/message.ts';

/** The event of a batch. Of digests and receive counts, which no handler reads, there is nothing. */
export function toSqsEvent(deliveries: readonly Delivery[]): SQSEvent {
  return { Records: deliveries.map(toRecord) };
}

function toRecord({ message, receiptHandle }: Delivery): SQSRecord {
  const { messageId, body, groupId, attributes = {} } = message;
  return {
    messageId,
    receiptHandle,
    body,
    attributes: {
      SenderId: message.senderId,
      SentTimestamp: String(message.sentAtMs),
      ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
      ApproximateReceiveCount: String(message.receiveCount),
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs ?? 0),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { DataType, StringValue }]) => [
        name,
        {
          dataType: DataType,
          ...(StringValue === undefined ? {} : { stringValue: StringValue }),
        },
      ]),
    ),
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: '',
    awsRegion: '',
  };
}
