// Every action of the protocol except ReceiveMessage: fields in, answer out.
//
// Assumes the caller has authenticated nobody: the sender id is whatever the request's credential scope implies.
// Actions report which queue may have something new to deliver (`changed`), so that the server can wake receivers;
// they do not wait and do not touch a connection. ReceiveMessage is in long-polls.ts because it waits.
import { readBatchEntries, runBatch } from './batch.ts';
import type { Broker, BrokerQueue } from './broker.ts';
import { sqsErrors } from '../queue/errors.ts';
import { messageBytesMax, visibilityTimeoutSecondsMax } from '../queue/queue-settings.ts';
import { formatSequenceNumber } from './receive-request.ts';
import {
  readOptionalInteger,
  readOptionalString,
  readString,
  readStringMap,
  readStrings,
  type Fields,
} from './request.ts';
import { readSendRequest, type SendRequest } from './send-request.ts';

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

/** Moves at once instead of in the background; the handle names a task that is already done. */
function startMessageMoveTask(fields: Fields, context: ActionContext): object {
  const sourceArn = readString(fields, 'SourceArn');
  const source = context.broker.queueWithArn(sourceArn);
  if (source === undefined) {
    throw sqsErrors.resourceNotFound(
      `The resource that you specified does not exist: ${sourceArn}`,
    );
  }
  const destinationArn = readOptionalString(fields, 'DestinationArn');
  const count = context.broker.moveMessages(source, destinationArn, context.nowMs);
  return { TaskHandle: Buffer.from(`${sourceArn}/${context.nowMs}/${count}`).toString('base64') };
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
  ['StartMessageMoveTask', startMessageMoveTask],
]);
