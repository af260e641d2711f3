// Receipt handles: which receive of which message, by which process.
//
// A handle is opaque to its holder. It names the message, a salt that differs for each process, and the message's
// receive count, so an older receive, or one from before a restart, is recognised as stale.
import { sqsErrors } from './errors.ts';

/** What identifies one receive. */
export interface ReceiptHandleParts {
  readonly messageId: string;
  readonly salt: string;
  readonly receiveCount: number;
}

/** The handle of one receive. */
export function formatReceiptHandle(parts: ReceiptHandleParts): string {
  return `${parts.messageId}.${parts.salt}.${String(parts.receiveCount)}`;
}

/** The message that a handle names; refuses what is no handle at all. */
export function parseReceiptHandle(receiptHandle: string): string {
  const [messageId, salt, count, ...rest] = receiptHandle.split('.');
  if (messageId === undefined || !salt || !count || rest.length > 0) {
    throw sqsErrors.receiptHandleIsInvalid(
      `The input receipt handle "${receiptHandle}" is not a valid receipt handle.`,
    );
  }
  return messageId;
}
