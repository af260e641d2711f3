/**
 * Waiting for the first of several things, on the Clock port.
 *
 * What loses the race goes on by itself; neither its value nor its failure reaches anybody, and no timer stays behind.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** The promise's value, or undefined when the signal aborts first; what comes after that is dropped. */
export function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      promise.catch(() => undefined);
      resolve(undefined);
      return;
    }
    const onAbort = (): void => {
      resolve(undefined);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}

/** Did the promise settle within the time, before the signal aborted? Its failure counts as settled. */
export function settlesWithin(
  promise: Promise<unknown>,
  options: { readonly clock: Clock; readonly withinMs: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const { clock, withinMs, signal } = options;
  return new Promise((resolve) => {
    const finish = (isSettled: boolean): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      resolve(isSettled);
    };
    const onAbort = (): void => {
      finish(false);
    };
    const cancel = clock.after(withinMs, onAbort);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const onSettled = (): void => {
      finish(true);
    };
    promise.then(onSettled, onSettled);
  });
}
