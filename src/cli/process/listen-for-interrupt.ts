/**
 * Ctrl-C for programs that stay: the first one leaves in order, the second one at once.
 *
 * It only aborts a signal; whoever waits on it finishes what was begun.
 */
import type { EXIT } from './exit-codes.ts';

/** A listener to SIGINT and SIGTERM. */
export interface InterruptListener {
  readonly signal: AbortSignal;
  /** Leaves as if interrupted, for a failure elsewhere. */
  readonly abort: () => void;
  readonly dispose: () => void;
}

/** Listens until disposed; `sayLeaving` is called at the first signal, the second one leaves with `exitCode`. */
export function listenForInterrupt(
  exitCode: typeof EXIT.failed | typeof EXIT.interrupted,
  sayLeaving?: () => void,
): InterruptListener {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCode);
    sayLeaving?.();
    controller.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    abort: () => {
      controller.abort();
    },
    dispose: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
