/** Desired, current and ready of a DaemonSet in one cluster, as the map tells them, kept over time up to a bound. */
import { kindAt, kindsOf } from './looks.ts';
import type { NodeMap } from './documents.ts';

/** Samples that are kept, the newest: an hour at one each four seconds. */
export const SAMPLES_MAX = 900;

/** At one time; null: it was not known. */
export interface Sample {
  readonly atMs: number;
  readonly desired: number | null;
  /** Nodes with a pod of it. */
  readonly current: number | null;
  /** Nodes whose pod serves. */
  readonly ready: number | null;
}

/** What a map that was asked for one DaemonSet says of a cluster; undefined: the cluster is not in it. */
export function sampleOf(map: NodeMap, cluster: string): Sample | undefined {
  const found = map.clusters.find(({ id }) => id === cluster);
  if (found === undefined) return undefined;
  const { atMs } = map;
  if (!found.isKnown) return { atMs, desired: null, current: null, ready: null };
  const kinds = kindsOf(map);
  const counts = { desired: 0, current: 0, ready: 0 };
  found.names.forEach((_, place) => {
    const kind = kindAt(found, place, kinds);
    // No DaemonSet is on it, or none belongs there.
    if (kind === 'unknown' || kind === 'not-wanted') return;
    counts.desired += 1;
    if ((found.release[place] ?? -1) >= 0) counts.current += 1;
    if (kind === 'serving') counts.ready += 1;
  });
  return { atMs, ...counts };
}

/** The history with a sample more; one that is not newer changes nothing. */
export function addSample(history: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = history.at(-1);
  if (last !== undefined && sample.atMs <= last.atMs) return history;
  return [...history, sample].slice(-SAMPLES_MAX);
}
