/**
 * The live DaemonSet before anything is created for it (S5): same UID, and not being deleted.
 *
 * One answer covers one batch (protocol 7), so it is asked for again before the next. A live read is
 * never older than the view, unless etcd went back in time: then the view is of another history, and
 * nothing is made by it, whether or not a watcher has noticed yet (protocol 15, row 71; S2). The store's own
 * version tells that also of a DaemonSet that nobody touched between backup and restore.
 */
import { compareResourceVersions, isResourceVersion } from '../../../core/model/identifiers.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { isStoreRestored } from '../../../core/view/restored-store.ts';
import type { ClusterReader, DaemonSetRead } from '../../../ports/cluster/cluster-access.ts';
import { keyOf } from '../run/context.ts';
import type { RunContext, Subject } from '../run/context.ts';
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
  const live = await access.getDaemonSet(keyOf(context));
  if (isOfLostHistory(live, subject)) {
    return {
      kind: 'changed',
      message: 'the API server is behind the view: etcd went back in time',
    };
  }
  const confirmation = confirmDaemonSet(live, ref.uid);
  if (confirmation.kind !== 'confirmed') return confirmation;
  if (isOlder(confirmation.object, daemonSet.object)) {
    const message = 'the live DaemonSet is older than the view: etcd went back in time';
    return { kind: 'changed', message };
  }
  const evidence = await noteForeignStatusWrite(confirmation.object, step);
  if (evidence === undefined) return confirmation;
  return { kind: 'changed', message: evidence };
}

/** Compares a live DaemonSet with the one the plan was made for. */
function confirmDaemonSet(live: DaemonSetRead, expected: Uid): DaemonSetConfirmation {
  if (live.kind === 'unavailable') return live;
  if (live.kind === 'missing') return { kind: 'changed', message: 'the DaemonSet is gone' };
  const { uid, deletionTimestamp } = live.object.metadata;
  if (uid !== expected) return { kind: 'changed', message: 'the DaemonSet has another UID' };
  if (deletionTimestamp !== undefined) {
    return { kind: 'changed', message: 'the DaemonSet is being deleted' };
  }
  return { kind: 'confirmed', object: live.object };
}

/** True of an answer of a store that is behind what the run's view, or our own writes, saw of it. */
export function isOfLostHistory(live: DaemonSetRead, { basis }: Pick<Subject, 'basis'>): boolean {
  const seen = { meta: basis.meta, written: basis.state?.written };
  return live.kind === 'found' && isStoreRestored(live.storeVersion, seen);
}

/** Reads are linearizable: only a restored etcd answers with a lower version than was seen before. */
export function isOlder(live: DaemonSetObject, seen: DaemonSetObject | null): boolean {
  const now = live.metadata.resourceVersion;
  const before = seen?.metadata.resourceVersion;
  if (!isResourceVersion(now) || !isResourceVersion(before)) return false;
  return compareResourceVersions(now, before) < 0;
}
