/** Which generation of a DaemonSet is meant, and whether a controller has seen it: metadata against status. */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';

/** metadata.generation; 0 where an API server leaves it out. */
export function generationOf({ metadata }: Pick<DaemonSetObject, 'metadata'>): number {
  return metadata.generation ?? 0;
}

/** True once some controller has observed the DaemonSet as it stands. */
export function isObserved(daemonSet: DaemonSetObject): boolean {
  return (daemonSet.status?.observedGeneration ?? 0) >= generationOf(daemonSet);
}
