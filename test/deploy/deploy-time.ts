/**
 * How long a deployment from nothing and back may take: ten minutes of a machine with nothing else to do.
 *
 * On a busier one only the work takes longer (test/support/machine-pace.ts); the deliveries of a dead letter are a
 * minute apart on any machine. The most that comes of it ends before the suite's own time-out, which would hide it.
 */
import { stretched } from '../support/machine-pace.ts';

/** What hangs ends. */
export const SUITE_TIMEOUT_MS = 1_700_000;
const PROMISED_MS = 600_000;
/** Until a message that fails each time is a dead letter: five deliveries, each with a visibility of a minute. */
const WAITED_MS = 5 * 60_000;

/** How long it may take where the machine was so many times slower than a quiet one. */
export function deployBoundMs(slowdown: number): number {
  return WAITED_MS + stretched(PROMISED_MS - WAITED_MS, slowdown);
}
