// What a queue stores for each message, and what it hands out.
//
// Assumes: bodies are strings and binary attribute values stay base64 as they came over the wire, so nothing is
// copied or re-encoded between send and receive. `sequence` orders the messages of one queue and never repeats.
// Times are milliseconds since the epoch, always given by the caller. No behaviour here.

/** A message attribute as it travels: `BinaryValue` is base64. */
export interface MessageAttributeValue {
  readonly DataType: string;
  readonly StringValue?: string;
  readonly BinaryValue?: string;
}

/** Message attributes by name. */
export type MessageAttributes = Readonly<Record<string, MessageAttributeValue>>;

/** A message as its queue stores it. The mutable part is at the end. */
export interface StoredMessage {
  readonly messageId: string;
  readonly body: string;
  readonly bodyMd5: string;
  readonly attributes?: MessageAttributes | undefined;
  readonly attributesMd5?: string | undefined;
  readonly traceHeader?: string | undefined;
  readonly senderId: string;
  readonly sentAtMs: number;
  readonly sequence: number;
  /** The message group: the exclusive lock of a FIFO queue, or just a label on a standard one. */
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  readonly deadLetterSourceArn?: string | undefined;
  /** Waiting: the end of its delay. In flight: the end of its visibility timeout. */
  visibleAtMs: number;
  isInFlight: boolean;
  receiveCount: number;
  firstReceivedAtMs?: number | undefined;
}

/** What a sender gives. Validated before it comes here. */
export interface NewMessage {
  readonly body: string;
  readonly bodyMd5: string;
  readonly attributes?: MessageAttributes | undefined;
  readonly attributesMd5?: string | undefined;
  readonly traceHeader?: string | undefined;
  readonly senderId: string;
  readonly groupId?: string | undefined;
  readonly deduplicationId?: string | undefined;
  /** Undefined: the queue's own delay. */
  readonly delaySeconds?: number | undefined;
}

/** A received message with the handle that deletes it. */
export interface Delivery {
  readonly message: StoredMessage;
  readonly receiptHandle: string;
}

/** What a sender gets back. A duplicate gets the identity of the message that it repeats. */
export interface SendReceipt {
  readonly messageId: string;
  readonly sequence: number;
  readonly isDuplicate: boolean;
}
