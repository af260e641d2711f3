// Every action of the protocol except ReceiveMessage: fields in, answer out.
//
// Assumes that no caller was authenticated: the sender id is whatever the request's credential scope implies.
// Actions report which queue may have something new to deliver (`changed`), so that the server can wake receivers;
// they do not wait and do not touch a connection. ReceiveMessage is in long-polls.ts because it waits.
import { readBatchEntries, runBatch } from './batch.ts';
import type { Broker, BrokerQueue } from './broker.ts';
import { sqsErrors } from '../queue/errors.ts';
import {
  messageBytesMax,
  visibilityTimeoutSecondsMax,
  delaySecondsMax,
  type QueueSettings,
} from '../queue/queue-settings.ts';
import { formatSequenceNumber } from './receive-request.ts';
import {
  readOptionalInteger,
  readOptionalString,
  readString,
  readStringMap,
  readStrings,
  type Fields,
  readMessageAttributes,
} from './request.ts';
import { attributesDigest, bodyDigest } from '../queue/digest.ts';
import type { MessageAttributes, NewMessage } from '../queue/message.ts';

/** What an action works with. */
export interface ActionContext {
  readonly broker: Broker;
  readonly nowMs: number;
  readonly senderId: string;
  readonly urlOf: (queue: BrokerQueue) => string;
  readonly changed: (queue: BrokerQueue) => void;
}

/** One action: an answer, or nothing where the protocol has an empty body. */
export type Action = (fields: Fields, context: ActionContext) => object | undefined;

/** The queue that a request is about. */
export function targetOf(fields: Fields, { broker }: Pick<ActionContext, 'broker'>): BrokerQueue {
  return broker.queueAt(readString(fields, 'QueueUrl'));
}

function createQueue(fields: Fields, context: ActionContext): object {
  const attributes = readStringMap(fields, 'Attributes');
  const name = readString(fields, 'QueueName');
  return { QueueUrl: context.urlOf(context.broker.createQueue(name, attributes, context.nowMs)) };
}

function getQueueUrl(fields: Fields, context: ActionContext): object {
  return { QueueUrl: context.urlOf(context.broker.queueNamed(readString(fields, 'QueueName'))) };
}

function listQueues(fields: Fields, context: ActionContext): object {
  const prefix = readOptionalString(fields, 'QueueNamePrefix') ?? '';
  const found = [...context.broker.queues()].filter(({ name }) => name.startsWith(prefix));
  return found.length === 0 ? {} : { QueueUrls: found.map(context.urlOf) };
}

function getQueueAttributes(fields: Fields, context: ActionContext): object {
  const names = readStrings(fields, 'AttributeNames');
  const all = context.broker.describe(targetOf(fields, context), context.nowMs);
  if (names.includes('All')) return { Attributes: all };
  const chosen = Object.entries(all).filter(([name]) => names.includes(name));
  return chosen.length === 0 ? {} : { Attributes: Object.fromEntries(chosen) };
}

function setQueueAttributes(fields: Fields, context: ActionContext): undefined {
  const target = targetOf(fields, context);
  context.broker.setAttributes(target, readStringMap(fields, 'Attributes'), context.nowMs);
  context.changed(target);
}

function deleteQueue(fields: Fields, context: ActionContext): undefined {
  context.broker.deleteQueue(targetOf(fields, context));
}

function purgeQueue(fields: Fields, context: ActionContext): undefined {
  targetOf(fields, context).queue.purge();
}

function answerSend(request: SendRequest, target: BrokerQueue, context: ActionContext): object {
  const { messageId, sequence } = target.queue.send(request.message, context.nowMs);
  return {
    MessageId: messageId,
    MD5OfMessageBody: request.message.bodyMd5,
    MD5OfMessageAttributes: request.message.attributesMd5,
    MD5OfMessageSystemAttributes: request.systemAttributesMd5,
    SequenceNumber: target.queue.settings.isFifo ? formatSequenceNumber(sequence) : undefined,
  };
}

function sendMessage(fields: Fields, context: ActionContext): object {
  const target = targetOf(fields, context);
  const request = readSendRequest(fields, target.queue.settings, context.senderId);
  const answer = answerSend(request, target, context);
  context.changed(target);
  return answer;
}

function sendMessageBatch(fields: Fields, context: ActionContext): object {
  const target = targetOf(fields, context);
  const entries = readBatchEntries(fields);
  const requests = new Map<Fields, SendRequest>();
  let totalBytes = 0;
  const readOnce = (entry: Fields): SendRequest => {
    const known = requests.get(entry);
    if (known !== undefined) return known;
    return readSendRequest(entry, target.queue.settings, context.senderId);
  };
  runBatch(entries, (entry) => {
    const request = readOnce(entry);
    requests.set(entry, request);
    totalBytes += request.sizeBytes;
    return undefined;
  });
  if (totalBytes > messageBytesMax) {
    throw sqsErrors.batchRequestTooLong(
      `Batch requests cannot be longer than ${messageBytesMax} bytes. You have sent ${totalBytes} bytes.`,
    );
  }
  const answer = runBatch(entries, (entry) => answerSend(readOnce(entry), target, context));
  context.changed(target);
  return answer;
}

function deleteMessage(fields: Fields, context: ActionContext): undefined {
  const target = targetOf(fields, context);
  target.queue.delete(readString(fields, 'ReceiptHandle'), context.nowMs);
  context.changed(target);
}

function deleteMessageBatch(fields: Fields, context: ActionContext): object {
  const target = targetOf(fields, context);
  const answer = runBatch(readBatchEntries(fields), (entry) => {
    target.queue.delete(readString(entry, 'ReceiptHandle'), context.nowMs);
    return undefined;
  });
  context.changed(target);
  return answer;
}

function changeOne(fields: Fields, target: BrokerQueue, nowMs: number): undefined {
  const bounds = { min: 0, max: visibilityTimeoutSecondsMax };
  const timeoutSeconds = readOptionalInteger(fields, 'VisibilityTimeout', bounds);
  if (timeoutSeconds === undefined) {
    throw sqsErrors.missingParameter('The request must contain the parameter VisibilityTimeout.');
  }
  target.queue.changeVisibility(readString(fields, 'ReceiptHandle'), timeoutSeconds, nowMs);
}

function changeMessageVisibility(fields: Fields, context: ActionContext): undefined {
  const target = targetOf(fields, context);
  changeOne(fields, target, context.nowMs);
  context.changed(target);
}

function changeMessageVisibilityBatch(fields: Fields, context: ActionContext): object {
  const target = targetOf(fields, context);
  const answer = runBatch(readBatchEntries(fields), (entry) =>
    changeOne(entry, target, context.nowMs),
  );
  context.changed(target);
  return answer;
}

/** The actions by their name in `X-Amz-Target`. */
export const actions: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['CreateQueue', createQueue],
  ['GetQueueUrl', getQueueUrl],
  ['ListQueues', listQueues],
  ['GetQueueAttributes', getQueueAttributes],
  ['SetQueueAttributes', setQueueAttributes],
  ['DeleteQueue', deleteQueue],
  ['PurgeQueue', purgeQueue],
  ['SendMessage', sendMessage],
  ['SendMessageBatch', sendMessageBatch],
  ['DeleteMessage', deleteMessage],
  ['DeleteMessageBatch', deleteMessageBatch],
  ['ChangeMessageVisibility', changeMessageVisibility],
  ['ChangeMessageVisibilityBatch', changeMessageVisibilityBatch],
]);

const identifierPattern = /^[\x21-\x7e]{1,128}$/;
// Not one character outside of what XML 1.0 allows: the query protocol could not carry it.
const validBodyPattern = /^[\u0009\u000a\u000d\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** A validated message, with the size that counts against limits. */
interface SendRequest {
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
function readSendRequest(fields: Fields, settings: QueueSettings, senderId: string): SendRequest {
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
