// Reads a ReceiveMessage request, and writes deliveries as it wants them.
//
// System attributes are given only where asked for, message attributes by name or prefix, each with the digest of
// what is given, because the SDK recomputes it. Absent answers are absent: a receive with nothing has no Messages.
import { attributesDigest } from '../queue/digest.ts';
import type { Delivery, MessageAttributes, StoredMessage } from '../queue/message.ts';
import {
  receiveWaitSecondsMax,
  visibilityTimeoutSecondsMax,
  type QueueSettings,
} from '../queue/queue-settings.ts';
import { readOptionalInteger, readStrings, type Fields } from './request.ts';

/** A validated ReceiveMessage request. */
export interface ReceiveParameters {
  readonly countMax: number;
  readonly waitSeconds: number;
  readonly visibilityTimeoutSeconds: number | undefined;
  readonly systemAttributeNames: readonly string[];
  readonly messageAttributeNames: readonly string[];
}

/** A message on the wire. */
export interface WireMessage {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly MD5OfBody: string;
  readonly Body: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: MessageAttributes | undefined;
  readonly MD5OfMessageAttributes?: string | undefined;
}

/** Reads a ReceiveMessage request. */
export function readReceiveRequest(fields: Fields, settings: QueueSettings): ReceiveParameters {
  const waitBounds = { min: 0, max: receiveWaitSecondsMax };
  const visibilityBounds = { min: 0, max: visibilityTimeoutSecondsMax };
  return {
    countMax: readOptionalInteger(fields, 'MaxNumberOfMessages', { min: 1, max: 10 }) ?? 1,
    waitSeconds:
      readOptionalInteger(fields, 'WaitTimeSeconds', waitBounds) ?? settings.receiveWaitSeconds,
    visibilityTimeoutSeconds: readOptionalInteger(fields, 'VisibilityTimeout', visibilityBounds),
    systemAttributeNames: [
      ...readStrings(fields, 'AttributeNames'),
      ...readStrings(fields, 'MessageSystemAttributeNames'),
    ],
    messageAttributeNames: readStrings(fields, 'MessageAttributeNames'),
  };
}

/** A FIFO sequence number as SQS shows it: twenty digits. */
export function formatSequenceNumber(sequence: number): string {
  return `1${String(sequence).padStart(19, '0')}`;
}

/** A delivery as the request wants it. */
export function writeDelivery(
  { message, receiptHandle }: Delivery,
  parameters: ReceiveParameters,
  isFifo: boolean,
): WireMessage {
  const wire: WireMessage = {
    MessageId: message.messageId,
    ReceiptHandle: receiptHandle,
    MD5OfBody: message.bodyMd5,
    Body: message.body,
  };
  const chosen = chooseAttributes(message.attributes, parameters.messageAttributeNames);
  if (parameters.systemAttributeNames.length === 0 && chosen === undefined) return wire;
  const all = systemAttributes(message, isFifo);
  const names = parameters.systemAttributeNames;
  const system = names.includes('All')
    ? all
    : Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
  return {
    ...wire,
    ...(Object.keys(system).length > 0 && { Attributes: system }),
    ...(chosen !== undefined && {
      MessageAttributes: chosen,
      MD5OfMessageAttributes:
        chosen === message.attributes ? message.attributesMd5 : attributesDigest(chosen),
    }),
  };
}

function systemAttributes(message: StoredMessage, isFifo: boolean): Record<string, string> {
  const attributes: Record<string, string> = {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAtMs),
    SenderId: message.senderId,
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAtMs ?? message.sentAtMs),
  };
  if (message.groupId !== undefined) attributes['MessageGroupId'] = message.groupId;
  if (message.deduplicationId !== undefined) {
    attributes['MessageDeduplicationId'] = message.deduplicationId;
  }
  if (isFifo) attributes['SequenceNumber'] = formatSequenceNumber(message.sequence);
  if (message.traceHeader !== undefined) attributes['AWSTraceHeader'] = message.traceHeader;
  if (message.deadLetterSourceArn !== undefined) {
    attributes['DeadLetterQueueSourceArn'] = message.deadLetterSourceArn;
  }
  return attributes;
}

function chooseAttributes(
  attributes: MessageAttributes | undefined,
  names: readonly string[],
): MessageAttributes | undefined {
  if (attributes === undefined || names.length === 0) return undefined;
  if (names.includes('All') || names.includes('.*')) return attributes;
  const chosen = Object.entries(attributes).filter(([attributeName]) =>
    names.some((name) =>
      name.endsWith('.*') ? attributeName.startsWith(name.slice(0, -2)) : attributeName === name,
    ),
  );
  return chosen.length === 0 ? undefined : Object.fromEntries(chosen);
}
