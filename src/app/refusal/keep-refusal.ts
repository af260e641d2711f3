/**
 * Keeps the record of what was refused or lost, for people.
 *
 * A record of a sender that nobody vouches for is kept as far as that is cheap: where it cannot be kept that is counted
 * and logged, and the message never comes again. It may wait in the group of the cluster that it named (L3), and a flood of
 * redeliveries would stand beside everybody's own messages (S6).
 */
import type { ProcessPorts } from '../../ports/process.ts';
import type { DeadLetterRecord, RegistryStore } from '../../ports/stores/registry-store.ts';

/** What keeping a record needs. */
export interface RefusalPorts extends Pick<ProcessPorts, 'log' | 'metrics'> {
  readonly registry: Pick<RegistryStore, 'recordDeadLetter'>;
}

/** A refusal as it is kept. */
export interface KeptRefusal extends Pick<
  DeadLetterRecord,
  'queue' | 'code' | 'detail' | 'messageId' | 'body'
> {
  /** As the message names it; empty when it could not be read. */
  readonly cluster: string;
  /** Unique id of the sender's role; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
  readonly sentAtMs: number;
}

/** Refusals after which nobody knows who speaks for the cluster that the message names. */
const UNVERIFIED: readonly string[] = [
  'wrong-group',
  'unknown-cluster',
  'not-bound-token',
  'wrong-sender',
];

/** Keeps the record of a refusal, as `keepRecord` does. */
export async function keepRefusal(refusal: KeptRefusal, ports: RefusalPorts): Promise<void> {
  const { cluster, senderRoleId, sentAtMs: atMs, ...rest } = refusal;
  const isVerified = cluster !== '' && !UNVERIFIED.includes(rest.code);
  const origin = isVerified ? { cluster } : { cluster: '', claim: { cluster, senderRoleId } };
  await keepRecord({ ...rest, ...origin, atMs }, ports);
}

/** Keeps a record. Rejects when that of a verified sender cannot be kept: its message comes again. */
export async function keepRecord(
  record: DeadLetterRecord,
  { registry, log, metrics }: RefusalPorts,
): Promise<void> {
  const { claim, queue, code, messageId } = record;
  try {
    const outcome = await registry.recordDeadLetter(record);
    // Without the code: an alarm looks at each function's one metric.
    if (outcome === 'first') metrics.count('RefusedSenders');
    if (outcome !== 'unkept') return;
  } catch (error) {
    if (claim === undefined) throw error;
    const { senderRoleId } = claim;
    log.error('a refused message could not be kept', { code, messageId, senderRoleId }, error);
  }
  metrics.count('RefusalsUnkept', { outcome: queue });
}
