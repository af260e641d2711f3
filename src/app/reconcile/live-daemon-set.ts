/**
 * The live DaemonSet before anything is created for it (S5): same UID, and not being deleted.
 *
 * One answer covers one batch (protocol 7), so it is asked for again before the next.
 */
import type { Uid } from '../../core/model/identifiers.ts';
import type { ClusterReader } from '../../ports/cluster-access.ts';
import type { NamespacedName } from '../../ports/view-store.ts';

/** Whether creates may go on. */
export type DaemonSetConfirmation =
  | { readonly kind: 'confirmed' }
  /** Gone, re-created under another UID, or being deleted. */
  | { readonly kind: 'changed'; readonly message: string }
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly isRefused: boolean;
      readonly retryAfterMs?: number;
    };

/** Reads the DaemonSet live and compares it with the one the plan was made for. */
export async function confirmDaemonSet(
  reader: ClusterReader,
  expected: NamespacedName & { readonly uid: Uid },
): Promise<DaemonSetConfirmation> {
  const live = await reader.getDaemonSet({ namespace: expected.namespace, name: expected.name });
  if (live.kind === 'unavailable') return live;
  if (live.kind === 'missing') return { kind: 'changed', message: 'the DaemonSet is gone' };
  const { uid, deletionTimestamp } = live.object.metadata;
  if (uid !== expected.uid) return { kind: 'changed', message: 'the DaemonSet has another UID' };
  if (deletionTimestamp !== undefined) {
    return { kind: 'changed', message: 'the DaemonSet is being deleted' };
  }
  return { kind: 'confirmed' };
}
