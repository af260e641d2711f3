/**
 * The order in which containers of a pod with sidecars are terminated: ordinary ones at once, sidecars after all of
 * them, the last sidecar first (the kubelet's terminationOrdering).
 *
 * Knows names only, and no time: whoever waits for a turn says for how long.
 */
import { isSidecar } from '../../shared/pod-object.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import { containersOf, initContainersOf } from './container-spec.ts';

/** Who waits for whom. */
export interface TerminationOrder {
  /** Resolves when those before it have ended; undefined: no need to wait. */
  turnOf(name: string): Promise<unknown> | undefined;
  /** The container has ended. */
  ended(name: string): void;
}

/** Makes the order for the containers that run now. */
export function createTerminationOrder(
  pod: PodObject,
  running: ReadonlySet<string>,
): TerminationOrder {
  const ends = new Map<string, { readonly promise: Promise<void>; readonly resolve: () => void }>();
  const end = (name: string): Promise<void> => {
    const known = ends.get(name);
    if (known !== undefined) return known.promise;
    const made = Promise.withResolvers<undefined>();
    const resolve = (): void => {
      made.resolve(undefined);
    };
    ends.set(name, { promise: made.promise, resolve });
    return made.promise;
  };
  const before = new Map<string, readonly Promise<void>[]>();
  const ordinary = containersOf(pod)
    .filter(({ name }) => running.has(name))
    .map(({ name }) => end(name));
  let later = ordinary;
  for (const { name } of initContainersOf(pod).filter(isSidecar).reverse()) {
    if (!running.has(name)) continue;
    before.set(name, later);
    later = [...ordinary, end(name)];
  }
  return {
    turnOf: (name) => {
      const promises = before.get(name) ?? [];
      return promises.length === 0 ? undefined : Promise.all(promises);
    },
    ended: (name) => {
      ends.get(name)?.resolve();
    },
  };
}
