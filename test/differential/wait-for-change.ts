/**
 * Waits for the next change that one of several mirrors shows at a place, or for the time-out: whoever
 * waits for something asks again then.
 */
import type { Mirror } from './mirror.ts';
import type { Place } from './place.ts';

/** Resolves at the next change or after the time-out, whichever is first. */
export function waitForChange(
  mirrors: readonly Mirror[],
  { place, timeoutMs }: { readonly place: Place; readonly timeoutMs: number },
): Promise<void> {
  return new Promise((resolve) => {
    const ends: (() => void)[] = [];
    const finish = (): void => {
      clearTimeout(timer);
      for (const end of ends) end();
      resolve();
    };
    const timer = setTimeout(finish, timeoutMs);
    for (const mirror of mirrors) ends.push(mirror.follow(place, finish));
  });
}
