/**
 * The live DaemonSet before anything is created for it (S5): same UID, and not being deleted.
 *
 * One answer covers one batch (protocol 7), so it is asked for again before the next. A live read is
 * never older than the view, unless etcd went back in time: then the view is of another history, and
 * nothing is made by it, whether or not a watcher has noticed yet (protocol 15, row 71; S2).
 */
import { compareResourceVersions, isResourceVersion } from '../../core/model/identifiers.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import type { ClusterReader } from '../../ports/cluster-access.ts';
import type { NamespacedName } from '../../ports/view-store.ts';
import { keyOf } from './context.ts';
import type { RunContext, Subject } from './context.ts';
import { noteForeignStatusWrite } from './rival.ts';

/** Whether creates may go on. */
export type DaemonSetConfirmation =
  | { readonly kind: 'confirmed'; readonly object: DaemonSetObject }
  /** Gone, re-created, being deleted, older than it was, or looked after by another controller. */
  | { readonly kind: 'changed'; readonly message: string }
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly isRefused: boolean;
      readonly retryAfterMs?: number;
    };

/**
 * The same for a run's own DaemonSet, which also looks at who else wrote its status: a rival is noted
 * at once, and nothing is made (design 5).
 */
export async function confirmSubject(step: {
  readonly context: RunContext;
  readonly subject: Pick<Subject, 'basis'>;
  readonly access: ClusterReader;
}): Promise<DaemonSetConfirmation> {
  const { context, subject, access } = step;
  const { ref, daemonSet } = subject.basis;
  const confirmation = await confirmDaemonSet(access, { ...keyOf(context), uid: ref.uid });
  if (confirmation.kind !== 'confirmed') return confirmation;
  if (isOlder(confirmation.object, daemonSet.object)) {
    const message = 'the live DaemonSet is older than the view: etcd went back in time';
    return { kind: 'changed', message };
  }
  const evidence = await noteForeignStatusWrite(confirmation.object, step);
  if (evidence === undefined) return confirmation;
  return { kind: 'changed', message: evidence };
}

/** Reads the DaemonSet live and compares it with the one the plan was made for. */
async function confirmDaemonSet(
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
  return { kind: 'confirmed', object: live.object };
}

/** Reads are linearizable: only a restored etcd answers with a lower version than was seen before. */
export function isOlder(live: DaemonSetObject, seen: DaemonSetObject | null): boolean {
  const now = live.metadata.resourceVersion;
  const before = seen?.metadata.resourceVersion;
  if (!isResourceVersion(now) || !isResourceVersion(before)) return false;
  return compareResourceVersions(now, before) < 0;
}
