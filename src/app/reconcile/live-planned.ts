/**
 * The live DaemonSet, if it is the very object that a run planned on (S7, S10).
 *
 * Its version alone does not say so: an etcd that is restored gives its versions out again, and a view
 * of the lost history may name one that the API server has now for another generation (row 71). A
 * status of that history would be accepted, since no generation is compared, and would lead for ever; a
 * revision that was no longer used in it may be in use again. Assumed: no etcd is restored, and gets as
 * far as that version again, between this read and the write that rests on it.
 */
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import type { ClusterReader } from '../../ports/cluster-access.ts';
import { isEdited } from './confirm-edit.ts';
import { keyOf } from './context.ts';
import type { RunContext, Subject } from './context.ts';

/** What there is instead of the planned one: none, another version, or no answer. */
export type PlannedMissing =
  | { readonly kind: 'gone' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed'; readonly message: string; readonly retryAfterMs?: number };

/** Reads the DaemonSet of a run live; `found` only if nothing changed since it was seen. */
export async function readPlanned(step: {
  readonly context: RunContext;
  readonly subject: Pick<Subject, 'basis' | 'daemonSet'>;
  readonly access: ClusterReader;
}): Promise<{ readonly kind: 'found'; readonly object: DaemonSetObject } | PlannedMissing> {
  const { context, subject, access } = step;
  const live = await access.getDaemonSet(keyOf(context));
  if (live.kind === 'unavailable') return { ...live, kind: 'failed' };
  if (live.kind === 'missing') return { kind: 'gone' };
  if (live.object.metadata.uid !== subject.basis.ref.uid) return { kind: 'gone' };
  if (!isAsPlanned(live.object, subject.daemonSet)) return { kind: 'conflict' };
  return live;
}

/**
 * True if the two are one object. Not all of its content is compared: API servers of two releases may
 * show one stored object with different defaults.
 */
function isAsPlanned(live: DaemonSetObject, planned: DaemonSetObject): boolean {
  return (
    live.metadata.resourceVersion === planned.metadata.resourceVersion &&
    !isEdited(live, planned) &&
    live.status?.observedGeneration === planned.status?.observedGeneration
  );
}
