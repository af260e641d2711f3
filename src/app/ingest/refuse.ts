/**
 * Refusing a message: one warn line, one metric, one record for people. Never a throw, and nothing of
 * any view is touched here (S6, L4).
 */
import type { IngestDependencies } from './dependencies.ts';
import type { IngestContext, IngestRefusalCode, IngestResult } from './result.ts';

/** What is refused, and why. */
export interface Refusal {
  readonly code: IngestRefusalCode;
  /** Dotted path of what was refused; empty or absent for the whole. */
  readonly field?: string;
  /** As the message names it: unverified. */
  readonly cluster: string;
}

/** Logs, counts and records a refusal. The record's key is the message's: a repeat replaces it. */
export async function refuse(
  refusal: Refusal,
  context: IngestContext,
  { registry, log, metrics }: Pick<IngestDependencies, 'registry' | 'log' | 'metrics'>,
): Promise<IngestResult> {
  const { code, cluster } = refusal;
  const field = refusal.field ?? '';
  const { messageId, sentAtMs, senderRoleId } = context;
  log.warn('message refused', { code, field, cluster, messageId, senderRoleId });
  metrics.count('IngestRefusals', { outcome: code });
  await registry.recordDeadLetter({
    cluster,
    queue: 'ingest',
    code,
    detail: field,
    messageId,
    atMs: sentAtMs,
    body: context.body ?? '',
  });
  return { kind: 'refused', code, ...(field === '' ? {} : { field }) };
}
