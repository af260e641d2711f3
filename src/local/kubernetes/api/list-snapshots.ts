/**
 * Collections as they were when a limited list began, so that its continuation shows the same moment.
 *
 * A real server reads the old revision from etcd; here the array of the (immutable) objects is kept. Bounded: the
 * oldest is forgotten, and its token answers 410 as after a compaction.
 */
import type { ApiObject, ResourceName } from '../objects/api-object.ts';

/** Which collection at which version. */
export interface SnapshotKey {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly version: bigint;
}

/** The kept collections. */
export interface Snapshots {
  keep(key: SnapshotKey, items: readonly ApiObject[]): void;
  get(key: SnapshotKey): readonly ApiObject[] | undefined;
}

const KEPT_MAX = 64;

/** Keeps the newest `keptMax` collections. */
export function createSnapshots(keptMax = KEPT_MAX): Snapshots {
  const kept = new Map<string, readonly ApiObject[]>();
  const textOf = ({ resource, namespace, version }: SnapshotKey): string =>
    `${resource} ${namespace ?? ''} ${String(version)}`;
  return {
    keep: (key, items) => {
      const text = textOf(key);
      kept.delete(text);
      kept.set(text, items);
      const [oldest] = kept.keys();
      if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
    },
    get: (key) => kept.get(textOf(key)),
  };
}
