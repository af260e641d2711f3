/**
 * Waits for a promise, but no longer than a signal allows.
 *
 * A request that cannot be cancelled (a send) must not hold up a stop. Its late answer is dropped.
 */

/** The promise's value, or `aborted` if the signal was first. Rejects as the promise does. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      resolve('aborted');
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', stop);
        resolve(value);
      },
      (cause: unknown) => {
        signal.removeEventListener('abort', stop);
        reject(cause instanceof Error ? cause : new Error('request failed', { cause }));
      },
    );
  });
}
