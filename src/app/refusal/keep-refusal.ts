/**
 * Notes what was refused, for the doctor and for an alarm.
 *
 * For an unverified sender it is done as far as it is cheap: where it cannot be, that
 * is counted and logged, and the message never comes again. It may wait in the group of the cluster
 * that it named (L3), and a flood of redeliveries would delay the messages of verified senders (S6).
 */
import type { ProcessPorts } from '../../ports/process.ts';
import type { RefusalNote, RegistryStore } from '../../ports/stores/registry-store.ts';

interface RefusalPorts extends Pick<ProcessPorts, 'log' | 'metrics'> {
  readonly registry: Pick<RegistryStore, 'noteRefusal'>;
}

interface Refused extends Omit<RefusalNote, 'sender' | 'atMs'> {
  readonly messageId: string;
  readonly sentAtMs: number;
}

/** Refusals after which the sender of the named cluster is unknown. */
const UNVERIFIED: readonly string[] = [
  'wrong-group',
  'unknown-cluster',
  'not-bound-token',
  'wrong-sender',
];

/** Notes a refusal. Rejects when that of a verified sender cannot be noted: its message comes again. */
export async function keepRefusal(refusal: Refused, ports: RefusalPorts): Promise<void> {
  const { registry, log, metrics } = ports;
  const { messageId, sentAtMs: atMs, ...note } = refusal;
  const { cluster, code, senderRoleId, queue } = note;
  const sender = cluster !== '' && !UNVERIFIED.includes(code) ? 'verified' : 'unverified';
  try {
    const outcome = await registry.noteRefusal({ ...note, sender, atMs });
    // Without the code: an alarm looks at each function's one metric.
    if (outcome === 'first') metrics.count('RefusedSenders');
    if (outcome !== 'unkept') return;
  } catch (error) {
    if (sender === 'verified') throw error;
    log.error('a refused message could not be kept', { code, messageId, senderRoleId }, error);
  }
  metrics.count('RefusalsUnkept', { outcome: queue });
}
