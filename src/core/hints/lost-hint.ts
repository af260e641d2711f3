/**
 * When a key is looked at again after one of its hints or timers was given up (protocol 12, L2).
 *
 * A bad deployment, or a dependency that is away for long, gives up every change in flight. One look, ten
 * to fifteen minutes later, follows them: moments of a key are five minutes apart, so letters that come close
 * to each other mean the same look, under the same id, and the queue merges them. What can never succeed
 * (poison) is given up again after its receives and comes back here: one look in ten minutes at most.
 * Keys are spread over the five minutes, so that a bad deployment does not come back at one moment. No
 * delay is longer than SQS offers: such a timer never hops.
 */
import { formatKey } from '../model/identifiers.ts';
import type { DaemonSetKey } from '../model/identifiers.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

/** The earliest look after a letter. */
const LOOK_AFTER_MS = 600_000;
/** Letters of one key within this time mean one look. */
const LOOKS_APART_MS = 300_000;

/** When to look again at the key of a hint that was given up. */
export function lookAfterLostHint(key: DaemonSetKey, nowMs: number): number {
  const phaseMs = hash48(formatKey(key)) % LOOKS_APART_MS;
  const count = Math.ceil((nowMs + LOOK_AFTER_MS - phaseMs) / LOOKS_APART_MS);
  return count * LOOKS_APART_MS + phaseMs;
}
