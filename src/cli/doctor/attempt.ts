/**
 * Runs one step of gathering facts.
 *
 * What fails or takes too long is `unchecked`, with the reason, and never ends the others.
 */
import { unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { CommandError } from '../process/exit-codes.ts';

const STEP_TIMEOUT_MS = 20_000;

/** Tries one step. Never rejects. `what` begins the reason, e.g. `the events queue`. */
export function attempt<T>(
  clock: Clock,
  what: string,
  step: () => Promise<Checked<T>>,
): Promise<Checked<T>> {
  return new Promise((resolve) => {
    const cancel = clock.after(STEP_TIMEOUT_MS, () => {
      resolve(unchecked(`${what}: no answer within ${STEP_TIMEOUT_MS / 1000} s`));
    });
    step().then(
      (fact) => {
        cancel();
        resolve(fact);
      },
      (error: unknown) => {
        cancel();
        resolve(unchecked(`${what}: ${reasonOf(error)}`));
      },
    );
  });
}

/** Names and codes only: a message may quote what it was about (S11). */
function reasonOf(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return 'unknown failure';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? `${error.name} (${code})` : error.name;
}
