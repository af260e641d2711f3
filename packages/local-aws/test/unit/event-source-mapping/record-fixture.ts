/** Records of SQS events for tests; the body is also the message id. */
import type { SQSRecord } from 'aws-lambda';

/** A record; with a group it is one of a FIFO queue. */
export function sqsRecord(body: string, groupId?: string): SQSRecord {
  return {
    messageId: body,
    receiptHandle: `handle-${body}`,
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
      ...(groupId !== undefined && { MessageGroupId: groupId, SequenceNumber: '1' }),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn',
    awsRegion: 'us-east-1',
  };
}
