/**
 * Intents that a live read found as they were answered, while no view shows them (faults row 64, ADR 0039).
 *
 * For a while they are not read again: a thousand open creates would be a thousand reads in every run. What was confirmed
 * stays unseen, so its node gets nothing else (S1, S2), its pod counts as unavailable (S3), and view or mark settle it as
 * ever; only that it is gone may be learned this much later. A clock that went back confirms nothing. Pure.
 */
import { intentIdentity } from './merge-intents.ts';
import type { Intent } from '../model/state.ts';

/** How long a live read of an intent's pod stands for the next one, milliseconds: as long as a deferral may last. */
export const CONFIRMED_FOR_MS = 30_000;

/** True while a live read of this intent's pod need not be repeated. */
export function isConfirmed({ confirmedAtMs }: Intent, nowMs: number): boolean {
  if (confirmedAtMs === undefined) return false;
  const agoMs = nowMs - confirmedAtMs;
  return agoMs >= 0 && agoMs < CONFIRMED_FOR_MS;
}

/** Milliseconds until the first of these is to be read again; at most CONFIRMED_FOR_MS. */
export function confirmedForMs(intents: readonly Intent[], nowMs: number): number {
  const left = intents.map(({ confirmedAtMs = nowMs }) => confirmedAtMs + CONFIRMED_FOR_MS - nowMs);
  return Math.min(CONFIRMED_FOR_MS, ...left);
}

/** Intents that were found live, and when they were asked for, milliseconds since the epoch. */
export interface FoundIntents {
  readonly intents: readonly Intent[];
  readonly atMs: number;
}

/** Notes a live read in the stored intents: in the very records that were read, no later ones of their identity. */
export function confirmIntents(
  stored: readonly Intent[],
  found: FoundIntents | undefined,
): readonly Intent[] {
  if (found === undefined) return stored;
  const { intents, atMs: confirmedAtMs } = found;
  const readAt = new Map(intents.map((intent) => [intentIdentity(intent), intent.recordedAtMs]));
  return stored.map((intent) =>
    readAt.get(intentIdentity(intent)) === intent.recordedAtMs
      ? { ...intent, confirmedAtMs }
      : intent,
  );
}
