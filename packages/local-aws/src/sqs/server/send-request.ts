// Validates what a sender gives, by the rules of the queue it is meant for.
//
// The rules that senders of this project rely on: a FIFO queue demands a group and (without content-based
// deduplication) a deduplication id, and refuses a delay of its own for a message; a delay is at most 900 s; a body
// with its attributes is at most the queue's maximum and never empty.
import { attributesDigest, bodyDigest } from '../queue/digest.ts';
import { sqsErrors } from '../queue/errors.ts';
import type { MessageAttributes, NewMessage } from '../queue/message.ts';
import { delaySecondsMax, type QueueSettings } from '../queue/queue-settings.ts';
import {
  readMessageAttributes,
  readOptionalInteger,
  readOptionalString,
  readString,
  type Fields,
} from './request.ts';

const identifierPattern = /^[\x21-\x7e]{1,128}$/;
// Not one character outside of what XML 1.0 allows: the query protocol could not carry it.
const validBodyPattern = /^[\u0009\u000a\u000d\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** A validated message, with the size that counts against limits. */
export interface SendRequest {
  readonly message: NewMessage;
  readonly sizeBytes: number;
  readonly systemAttributesMd5: string | undefined;
}

/** The size of a message as SQS counts it: body, and name, type and value of each attribute. */
function messageSizeBytes(body: string, attributes: MessageAttributes | undefined): number {
  let sizeBytes = Buffer.byteLength(body);
  if (attributes === undefined) return sizeBytes;
  for (const [name, value] of Object.entries(attributes)) {
    sizeBytes += Buffer.byteLength(name) + Buffer.byteLength(value.DataType);
    sizeBytes +=
      value.BinaryValue === undefined
        ? Buffer.byteLength(value.StringValue ?? '')
        : Buffer.byteLength(value.BinaryValue, 'base64');
  }
  return sizeBytes;
}

/** Reads a SendMessage request or one entry of a batch. */
export function readSendRequest(
  fields: Fields,
  settings: QueueSettings,
  senderId: string,
): SendRequest {
  const body = readString(fields, 'MessageBody');
  if (!validBodyPattern.test(body)) {
    throw sqsErrors.invalidMessageContents('Invalid characters found in the message body.');
  }
  const attributes = readMessageAttributes(fields, 'MessageAttributes');
  const systemAttributes = readMessageAttributes(fields, 'MessageSystemAttributes');
  const sizeBytes = messageSizeBytes(body, attributes);
  if (sizeBytes > settings.maximumMessageBytes) {
    throw sqsErrors.invalidParameterValue(
      `One or more parameters are invalid. Reason: Message must be shorter than ${settings.maximumMessageBytes} bytes.`,
    );
  }
  const bounds = { min: 0, max: delaySecondsMax };
  const delaySeconds = readOptionalInteger(fields, 'DelaySeconds', bounds);
  const groupId = readIdentifier(fields, 'MessageGroupId');
  const deduplicationId = readIdentifier(fields, 'MessageDeduplicationId');
  if (settings.isFifo) assertFifo({ settings, groupId, deduplicationId, delaySeconds });
  else if (deduplicationId !== undefined) {
    throw sqsErrors.invalidParameterValue(
      'The request include parameter MessageDeduplicationId which is not valid for this queue type.',
    );
  }
  const message = {
    body,
    bodyMd5: bodyDigest(body),
    attributes,
    attributesMd5: attributesDigest(attributes),
    traceHeader: systemAttributes?.['AWSTraceHeader']?.StringValue,
    senderId,
    groupId,
    deduplicationId,
    // A FIFO queue takes 0 as "as the queue has it"; anything else was refused above.
    delaySeconds: settings.isFifo ? undefined : delaySeconds,
  };
  return { message, sizeBytes, systemAttributesMd5: attributesDigest(systemAttributes) };
}

function readIdentifier(fields: Fields, name: string): string | undefined {
  const value = readOptionalString(fields, name);
  if (value === undefined || identifierPattern.test(value)) return value;
  throw sqsErrors.invalidParameterValue(
    `Value ${value} for parameter ${name} is invalid. Reason: ${name} can only include alphanumeric and punctuation characters. 1 to 128 in length.`,
  );
}

function assertFifo(request: {
  readonly settings: QueueSettings;
  readonly groupId: string | undefined;
  readonly deduplicationId: string | undefined;
  readonly delaySeconds: number | undefined;
}): void {
  if (request.groupId === undefined) {
    throw sqsErrors.missingParameter('The request must contain the parameter MessageGroupId.');
  }
  if (request.deduplicationId === undefined && !request.settings.contentBasedDeduplication) {
    throw sqsErrors.invalidParameterValue(
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
    );
  }
  if (request.delaySeconds !== undefined && request.delaySeconds !== 0) {
    throw sqsErrors.invalidParameterValue(
      `Value ${request.delaySeconds} for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.`,
    );
  }
}
