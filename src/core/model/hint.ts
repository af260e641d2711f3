/**
 * Hints: messages that say *look again*. Their content is never acted upon (design 1).
 */
import type { ClusterId, ClusterUid, DaemonSetKey } from './identifiers.ts';

/** A timer that is this close counts as due: now ≥ due − 2 s (protocol 12). */
export const DUE_TOLERANCE_MS = 2_000;

/** Version of the hint schema that this release writes. */
export const HINT_SCHEMA = 1;

/** The source of a hint, for logs and metrics; `due` says that a timer of the key is gone. */
export type HintReason = 'changed' | 'snapshot' | 'due' | 'retry' | 'resync' | 'manual';

/** A body of reconcile.fifo. */
export interface Hint {
  readonly schema: typeof HINT_SCHEMA;
  readonly key: DaemonSetKey;
  readonly clusterUid: ClusterUid;
  readonly reason: HintReason;
}

/** A hint for a DaemonSet of a registered cluster, or for what stands under its name. */
export function hintFor(
  { id: cluster, clusterUid }: { readonly id: ClusterId; readonly clusterUid: ClusterUid },
  { namespace, name }: { readonly namespace: string; readonly name: string },
  reason: HintReason,
): Hint {
  return { schema: HINT_SCHEMA, key: { cluster, namespace, name }, clusterUid, reason };
}

/** A body of the delay queue: forwarded to reconcile.fifo once due; longer delays hop. */
export interface Timer {
  readonly schema: typeof HINT_SCHEMA;
  readonly hint: Hint;
  /** Unique, so that no deduplication can swallow it (protocol 12). */
  readonly timerId: string;
  readonly dueAtMs: number;
  readonly hops: number;
}
