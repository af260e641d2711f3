// The events that functions are invoked with, in exactly Lambda's shape.
//
// A record of an SQS event differs from a received message in the case of its names, in its digests' names, and in
// the form of message attributes; binary values travel as base64. A schedule gives an EventBridge event.
import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import type {
  ScheduledEvent,
  SQSMessageAttribute,
  SQSRecord,
  SQSRecordAttributes,
} from 'aws-lambda';

/** Where a record comes from. */
export interface RecordSource {
  readonly queueArn: string;
  readonly region: string;
}

/** A received message as a record of an SQS event. */
export function toSqsRecord(message: Message, source: RecordSource): SQSRecord {
  return {
    messageId: message.MessageId ?? '',
    receiptHandle: message.ReceiptHandle ?? '',
    body: message.Body ?? '',
    attributes: (message.Attributes ?? {}) as Record<
      string,
      string
    > as unknown as SQSRecordAttributes,
    messageAttributes: Object.fromEntries(
      Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
        name,
        toRecordAttribute(value),
      ]),
    ),
    ...(message.MD5OfMessageAttributes !== undefined && {
      md5OfMessageAttributes: message.MD5OfMessageAttributes,
    }),
    md5OfBody: message.MD5OfBody ?? '',
    eventSource: 'aws:sqs',
    eventSourceARN: source.queueArn,
    awsRegion: source.region,
  };
}

function toRecordAttribute(value: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...(value.StringValue !== undefined && { stringValue: value.StringValue }),
    ...(value.BinaryValue !== undefined && {
      binaryValue: Buffer.from(value.BinaryValue).toString('base64'),
    }),
    stringListValues: [],
    binaryListValues: [],
    dataType: value.DataType ?? 'String',
  };
}

/** What one firing of a schedule is made of. */
export interface ScheduleFiring {
  readonly id: string;
  readonly atMs: number;
  readonly region: string;
  readonly account: string;
  readonly ruleName: string;
}

/** The event of a schedule. */
export function toScheduledEvent(firing: ScheduleFiring): ScheduledEvent {
  const { id, account, region, ruleName } = firing;
  return {
    version: '0',
    id,
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    account,
    time: new Date(firing.atMs).toISOString().replace(/\.\d+Z$/, 'Z'),
    region,
    resources: [`arn:aws:events:${region}:${account}:rule/${ruleName}`],
    detail: {},
  };
}
