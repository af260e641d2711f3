/**
 * Ctrl-C for programs that stay: the first signal lets them end in order, the second one ends them at once.
 */

/** Resolves at the first SIGINT or SIGTERM. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    let isLeaving = false;
    const onSignal = (): void => {
      if (isLeaving) process.exit(1);
      isLeaving = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
