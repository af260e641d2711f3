/**
 * Ctrl-C for programs that stay: the first one leaves in order, the second one at once.
 *
 * A terminal that is closed, and a pipe without a reader, count as the first one. `nohup` asks to go on without the
 * terminal. It only aborts a signal; its listeners finish what was begun.
 */
import path from 'node:path';
import type { EXIT } from './exit-codes.ts';

/** A listener to what ends a program. */
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
  const abort = (): void => {
    controller.abort();
  };
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(exitCode);
    sayLeaving?.();
    abort();
  };
  const onHangup = isUnderNohup(process.env) ? (): void => undefined : abort;
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onHangup);
  // For good: what is written after that fails as well, and is no reason to crash.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', abort);
  return {
    signal: controller.signal,
    abort,
    dispose: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      process.off('SIGHUP', onHangup);
    },
  };
}

/**
 * Whether `nohup` started it. Node takes its "SIGHUP is ignored" away before any code runs; what is left is the shell's word for
 * what it ran (`_`), which scripts/launch.mjs hands on from the other side of npm.
 */
function isUnderNohup(environment: Readonly<NodeJS.ProcessEnv>): boolean {
  return path.basename(environment['ROLLCALL_STARTED_BY'] ?? environment['_'] ?? '') === 'nohup';
}
