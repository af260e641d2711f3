// The attributes of a queue: what a caller may set, within which bounds, and what follows when nothing is set.
//
// Assumes attributes come as AWS sends them, strings by name. Unknown names and values out of bounds are refused,
// as SQS does: a typo in infra/queues.yml must not become a default. Encryption attributes are accepted and have
// no effect. Does not know any queue.
import { sqsErrors } from './errors.ts';

/** Queue attributes as they travel. */
export type QueueAttributes = Readonly<Record<string, string>>;

/** Where messages go that were received too often. */
export interface RedrivePolicy {
  readonly deadLetterTargetArn: string;
  readonly maxReceiveCount: number;
}

/** The parsed attributes of a queue. */
export interface QueueSettings {
  readonly isFifo: boolean;
  readonly contentBasedDeduplication: boolean;
  readonly deduplicationScope: 'queue' | 'messageGroup';
  readonly delaySeconds: number;
  readonly visibilityTimeoutSeconds: number;
  readonly receiveWaitSeconds: number;
  readonly retentionSeconds: number;
  readonly maximumMessageBytes: number;
  readonly redrive?: RedrivePolicy | undefined;
}

/** SQS's own limit for one message, and for all messages of one batch. */
export const messageBytesMax = 1_048_576;
/** The longest delay of a message. */
export const delaySecondsMax = 900;
/** The longest visibility timeout. */
export const visibilityTimeoutSecondsMax = 43_200;
/** The longest long poll. */
export const receiveWaitSecondsMax = 20;

interface Bounds {
  readonly fallback: number;
  readonly min: number;
  readonly max: number;
}

const integerAttributes: Readonly<Record<string, Bounds>> = {
  DelaySeconds: { fallback: 0, min: 0, max: delaySecondsMax },
  VisibilityTimeout: { fallback: 30, min: 0, max: visibilityTimeoutSecondsMax },
  ReceiveMessageWaitTimeSeconds: { fallback: 0, min: 0, max: receiveWaitSecondsMax },
  MessageRetentionPeriod: { fallback: 345_600, min: 60, max: 1_209_600 },
  MaximumMessageSize: { fallback: messageBytesMax, min: 1024, max: messageBytesMax },
};

const fifoOnly = new Set([
  'FifoQueue',
  'ContentBasedDeduplication',
  'DeduplicationScope',
  'FifoThroughputLimit',
]);

const inert = new Set([
  'Policy',
  'KmsMasterKeyId',
  'KmsDataKeyReusePeriodSeconds',
  'SqsManagedSseEnabled',
  'RedriveAllowPolicy',
]);

/** Parses and validates the attributes of a queue. */
export function parseQueueSettings(name: string, attributes: QueueAttributes): QueueSettings {
  const isFifo = name.endsWith('.fifo');
  for (const key of Object.keys(attributes)) assertKnown(key, isFifo);
  if (isFifo !== (attributes['FifoQueue'] === 'true')) {
    throw sqsErrors.invalidParameterValue(
      'The name of a FIFO queue ends with .fifo, and FifoQueue is true for it and only for it.',
    );
  }
  const integer = (key: string): number => parseInteger(key, attributes[key]);
  return {
    isFifo,
    contentBasedDeduplication: attributes['ContentBasedDeduplication'] === 'true',
    deduplicationScope: parseChoice(attributes, 'DeduplicationScope', ['queue', 'messageGroup']),
    delaySeconds: integer('DelaySeconds'),
    visibilityTimeoutSeconds: integer('VisibilityTimeout'),
    receiveWaitSeconds: integer('ReceiveMessageWaitTimeSeconds'),
    retentionSeconds: integer('MessageRetentionPeriod'),
    maximumMessageBytes: integer('MaximumMessageSize'),
    redrive: parseRedrivePolicy(attributes['RedrivePolicy']),
  };
}

/** The attributes as GetQueueAttributes shows them, defaults included. */
export function describeQueueSettings(settings: QueueSettings): Record<string, string> {
  const described: Record<string, string> = {
    DelaySeconds: String(settings.delaySeconds),
    VisibilityTimeout: String(settings.visibilityTimeoutSeconds),
    ReceiveMessageWaitTimeSeconds: String(settings.receiveWaitSeconds),
    MessageRetentionPeriod: String(settings.retentionSeconds),
    MaximumMessageSize: String(settings.maximumMessageBytes),
  };
  if (settings.isFifo) {
    described['FifoQueue'] = 'true';
    described['ContentBasedDeduplication'] = String(settings.contentBasedDeduplication);
    described['DeduplicationScope'] = settings.deduplicationScope;
  }
  return described;
}

function assertKnown(key: string, isFifo: boolean): void {
  if (key in integerAttributes || key === 'RedrivePolicy' || inert.has(key)) return;
  if (fifoOnly.has(key) && isFifo) return;
  throw sqsErrors.invalidAttributeName(`Unknown Attribute ${key}.`);
}

function parseInteger(key: string, text: string | undefined): number {
  const bounds = integerAttributes[key];
  if (bounds === undefined) throw new Error(`${key} is not an integer attribute`);
  if (text === undefined || text === '') return bounds.fallback;
  const value = Number(text);
  if (!Number.isInteger(value) || value < bounds.min || value > bounds.max) {
    throw sqsErrors.invalidAttributeValue(
      `Invalid value for the parameter ${key}: ${text} is not in ${String(bounds.min)}..${String(bounds.max)}.`,
    );
  }
  return value;
}

function parseChoice<T extends string>(
  attributes: QueueAttributes,
  key: string,
  choices: readonly [T, ...T[]],
): T {
  const text = attributes[key];
  if (text === undefined) return choices[0];
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) {
    throw sqsErrors.invalidAttributeValue(`Invalid value for the parameter ${key}.`);
  }
  return choice;
}

function parseRedrivePolicy(text: string | undefined): RedrivePolicy | undefined {
  if (text === undefined || text === '') return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    const error = sqsErrors.invalidAttributeValue('RedrivePolicy is not valid JSON.');
    error.cause = cause;
    throw error;
  }
  const policy = parsed as { deadLetterTargetArn?: unknown; maxReceiveCount?: unknown } | null;
  const maxReceiveCount = Number(policy?.maxReceiveCount);
  if (
    typeof policy?.deadLetterTargetArn !== 'string' ||
    !Number.isInteger(maxReceiveCount) ||
    maxReceiveCount < 1 ||
    maxReceiveCount > 1000
  ) {
    throw sqsErrors.invalidAttributeValue(
      'RedrivePolicy needs deadLetterTargetArn, and maxReceiveCount in 1..1000.',
    );
  }
  return { deadLetterTargetArn: policy.deadLetterTargetArn, maxReceiveCount };
}
