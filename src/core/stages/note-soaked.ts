/**
 * When a canary has shown all that it had to, while somebody or a window holds what follows (issue 18).
 *
 * It proves nothing yet, since nodes that join would be given what is proven; a fleet goes on by it. A view that is too old for a
 * moment takes nothing back.
 */
import type { RolloutRecord } from '../model/rollout-record.ts';
import type { Gate } from '../model/staged-progress.ts';

/** The record with that moment, or without it; the very same if nothing changed. */
export function noteSoaked(record: RolloutRecord, { kind }: Gate, nowMs: number): RolloutRecord {
  const { soakedAtMs, ...step } = record.step;
  if (kind === 'view') return record;
  const isSoaked = step.kind === 'canary' && (kind === 'approval' || kind === 'window');
  if (isSoaked === (soakedAtMs !== undefined)) return record;
  return { ...record, step: isSoaked ? { ...step, soakedAtMs: nowMs } : step };
}
