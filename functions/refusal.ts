/**
 * A body that cannot be read gets a typed refusal: one log line, one metric, one kept record, and it
 * is acknowledged; delivering it again would change nothing.
 */
import type { SQSRecord } from 'aws-lambda';
import { composition } from './composition.ts';
import type { HandlerContext } from './middleware.ts';

const KEPT_BODY_MAX = 4096;

/** What was refused, and why. */
export interface RecordRefusal {
  readonly queue: 'reconcile' | 'delay';
  readonly record: SQSRecord;
  readonly refusal: { readonly code: string; readonly field: string };
  readonly context: HandlerContext;
}

/** Logs, counts and keeps a refused record. Rejects when the registry cannot keep it. */
export async function refuseRecord(options: RecordRefusal): Promise<void> {
  const { queue, record, refusal, context } = options;
  const { registry, clock } = composition(context);
  const { code, field } = refusal;
  context.metrics.count('MessageRefusals', { outcome: code });
  context.log.warn('message refused', { queue, code, field, messageId: record.messageId });
  await registry.recordDeadLetter({
    cluster: '',
    queue,
    code,
    detail: field,
    messageId: record.messageId,
    atMs: clock.nowMs(),
    body: record.body.slice(0, KEPT_BODY_MAX),
  });
}
