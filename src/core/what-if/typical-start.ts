/** How long a pod of the DaemonSet takes to become ready: as those of now did, or assumed. An estimate, and told as one. */
import type { PodProjection } from '../model/projections.ts';

/** From creation to readiness. */
export interface TypicalStart {
  readonly startMs: number;
  /** Pods of which it is the median; 0: it is assumed. */
  readonly pods: number;
}

const ASSUMED_MS = 30_000;
/** A pod that was not ready in between says nothing of a start. */
const LONGEST_MS = 600_000;

/** The median of the pods that are ready. */
export function typicalStart(pods: readonly PodProjection[]): TypicalStart {
  const took = pods
    .flatMap(({ isReady, readyChangedAtMs, createdAtMs }) =>
      isReady && readyChangedAtMs !== undefined ? [readyChangedAtMs - createdAtMs] : [],
    )
    .filter((ms) => ms >= 0 && ms <= LONGEST_MS)
    .sort((left, right) => left - right);
  const median = took[Math.floor(took.length / 2)];
  if (median === undefined) return { startMs: ASSUMED_MS, pods: 0 };
  return { startMs: Math.max(1_000, median), pods: took.length };
}
