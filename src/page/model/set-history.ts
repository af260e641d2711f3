/** Desired, current and ready of a DaemonSet in one cluster, as the map tells them, kept over time up to a bound. */
import { kindAt, kindsOf } from './looks.ts';
import type { NodeMap } from './documents.ts';

/** How long a sample is kept, after which there is a newer one. */
export const KEPT_MS = 3_600_000;

/** So long without a sample nothing is known in between: the tab slept, or nothing answered. */
const GAP_MS = 30_000;

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

/** The history with a sample more, and a gap where none came for a while; one that is not newer changes nothing. */
export function addSample(history: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = history.at(-1);
  const { atMs } = sample;
  if (last !== undefined && atMs <= last.atMs) return history;
  const kept = history.filter((each) => each.atMs >= atMs - KEPT_MS);
  if (last === undefined || atMs - last.atMs <= GAP_MS) return [...kept, sample];
  return [...kept, { atMs: last.atMs + 1, desired: null, current: null, ready: null }, sample];
}
