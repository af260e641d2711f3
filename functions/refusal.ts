/**
 * A body of a hint or timer that cannot be read gets a typed refusal: one log line, one metric, and
 * it is acknowledged.
 *
 * Delivering it again would change nothing, and only our own functions write to these queues.
 */
import type { SQSRecord } from 'aws-lambda';
import type { HandlerContext } from './middleware.ts';

/** What was refused, and why. */
export interface RecordRefusal {
  readonly queue: 'reconcile' | 'delay';
  readonly record: SQSRecord;
  readonly refusal: { readonly code: string; readonly field: string };
  readonly context: HandlerContext;
}

/** Logs and counts a refused record. */
export function refuseRecord({ queue, record, refusal, context }: RecordRefusal): void {
  const { code, field } = refusal;
  context.metrics.count('MessageRefusals', { outcome: code });
  context.log.warn('message refused', { queue, code, field, messageId: record.messageId });
}
