// The events that functions are invoked with, in exactly Lambda's shape.
//
// A record of an SQS event differs from a received message in the case of its names, in its digests' names, and in
// the form of message attributes; binary values travel as base64. A schedule gives an EventBridge event.
import type {
  ScheduledEvent,
  SQSMessageAttribute,
  SQSRecord,
  SQSRecordAttributes,
} from 'aws-lambda';
import type { MessageAttributeValue } from '../sqs/queue/message.ts';
import type { WireMessage } from '../sqs/server/receive-request.ts';

/** Where a record comes from. */
export interface RecordSource {
  readonly queueArn: string;
  readonly region: string;
}

/** A received message as a record of an SQS event. */
export function toSqsRecord(message: WireMessage, source: RecordSource): SQSRecord {
  const { MessageAttributes: attributes = {}, MD5OfMessageAttributes: digest } = message;
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: (message.Attributes ?? {}) as Record<
      string,
      string
    > as unknown as SQSRecordAttributes, // `All` was asked for: the service gives what Lambda names
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, value]) => [name, toRecordAttribute(value)]),
    ),
    ...(digest !== undefined && { md5OfMessageAttributes: digest }),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: source.queueArn,
    awsRegion: source.region,
  };
}

function toRecordAttribute({
  DataType: dataType,
  StringValue: stringValue,
  BinaryValue: binaryValue,
}: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...(stringValue !== undefined && { stringValue }),
    ...(binaryValue !== undefined && { binaryValue }),
    stringListValues: [],
    binaryListValues: [],
    dataType,
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
