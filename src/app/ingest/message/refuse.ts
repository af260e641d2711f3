/**
 * Refusing a message: one warn line, one metric, one record for people; nothing of any view is touched
 * here (S6, L4). What nobody may say is recorded by its sender, apart from the cluster that it names,
 * and never comes again.
 */
import type { IngestDependencies } from '../process/dependencies.ts';
import type { IngestContext, IngestRefusalCode, IngestResult } from './result.ts';

/** What is refused, and why. */
export interface Refusal {
  readonly code: IngestRefusalCode;
  /** Dotted path of what was refused; empty or absent for the whole. */
  readonly field?: string;
  /** What is kept for people besides the field, e.g. which cluster UID the message named. */
  readonly detail?: string;
  /** As the message names it: unverified. */
  readonly cluster: string;
}

/** Refusals after which nobody knows who speaks for the cluster that the message names. */
const UNVERIFIED: readonly IngestRefusalCode[] = ['wrong-group', 'unknown-cluster', 'wrong-sender'];

/**
 * Logs, counts and records a refusal. The record's key is the message's: a repeat replaces it. Rejects
 * when the record of a verified sender cannot be kept. What a forger sent is let go then: it must not
 * come again, because it may wait in the group of the cluster that it named (L3).
 */
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
  const isVerified = cluster !== '' && !UNVERIFIED.includes(code);
  try {
    await registry.recordDeadLetter({
      cluster: isVerified ? cluster : '',
      ...(isVerified ? {} : { claim: { cluster, senderRoleId } }),
      queue: 'ingest',
      code,
      detail: refusal.detail ?? field,
      messageId,
      atMs: sentAtMs,
      body: context.body ?? '',
    });
  } catch (error) {
    if (isVerified) throw error;
    metrics.count('IngestRefusalsUnkept');
    log.error('a refused message could not be kept', { code, messageId, senderRoleId }, error);
  }
  return { kind: 'refused', code, ...(field === '' ? {} : { field }) };
}
