/**
 * A live read of each pod before it is deleted (design 3, step 5; S3, S4).
 *
 * UID, owner, not terminating, and the reason still holds (confirm-reason.ts): then the live
 * resourceVersion becomes the precondition of the delete, so a status change that the watcher's
 * filter dropped cannot make it fail for ever (row 77). What cannot be confirmed is not deleted.
 */
import type { DeletePodEffect } from '../../../core/model/effects.ts';
import type { PlannedDelete } from '../../../core/model/plan.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { ReasonJudge, shareReads } from './confirm-reason.ts';
import type { ReasonContext } from './confirm-reason.ts';
import { projectLivePod } from '../../../core/projections/project.ts';

/** Live reads sent side by side. */
const READS_AT_ONCE = 50;

/** What confirming needs. */
export interface ConfirmContext extends Pick<ReasonContext, 'view' | 'currentHash' | 'nowMs'> {
  readonly reader: ClusterReader;
  /** False once the deadline passed: no further read is started. */
  readonly mayContinue: () => boolean;
}

/** A delete that may be sent. */
export interface ConfirmedDelete {
  readonly planned: PlannedDelete;
  readonly effect: DeletePodEffect;
}

/** Victims by what the live reads said. */
export interface VictimConfirmation {
  readonly confirmed: readonly ConfirmedDelete[];
  /** Gone, terminating, re-made, or the reason holds no more: the view will show it. */
  readonly dropped: readonly PlannedDelete[];
  /** Not readable now: look again. */
  readonly unreadable: readonly PlannedDelete[];
}

type Verdict = 'unreadable' | 'dropped' | DeletePodEffect;

/** Reads every victim live. */
export async function confirmVictims(
  deletes: readonly PlannedDelete[],
  context: ConfirmContext,
): Promise<VictimConfirmation> {
  const confirmed: ConfirmedDelete[] = [];
  const dropped: PlannedDelete[] = [];
  const unreadable: PlannedDelete[] = [];
  const confirm = confirmerOf(deletes, context);
  for (let start = 0; start < deletes.length; start += READS_AT_ONCE) {
    const group = deletes.slice(start, start + READS_AT_ONCE);
    const verdicts = context.mayContinue()
      ? await Promise.all(group.map((planned) => confirm(planned)))
      : group.map((): Verdict => 'unreadable');
    for (const [index, planned] of group.entries()) {
      const verdict = verdicts[index] ?? 'unreadable';
      if (verdict === 'unreadable') unreadable.push(planned);
      else if (verdict === 'dropped') dropped.push(planned);
      else confirmed.push({ planned, effect: verdict });
    }
  }
  return { confirmed, dropped, unreadable };
}

/** Confirms victims one by one, with reads shared among them. */
function confirmerOf(
  deletes: readonly PlannedDelete[],
  { reader, view, currentHash, nowMs }: ConfirmContext,
): (planned: PlannedDelete) => Promise<Verdict> {
  const { namespace } = view;
  const reads = shareReads(reader, namespace);
  const victims = new Set(deletes.map(({ uid }) => uid));
  const judge = new ReasonJudge({ view, currentHash, victims, reads, nowMs });
  return async (planned) => {
    const live = await reads.pod(planned.name);
    if (live.kind === 'unavailable') return 'unreadable';
    if (live.kind === 'missing') return 'dropped';
    const pod = projectLivePod(live.object);
    const isVictim = pod.uid === planned.uid && pod.ownerUid === view.uid && !pod.isTerminating;
    if (!isVictim) return 'dropped';
    const reason = await judge.judge(planned, pod);
    if (reason !== 'holds') return reason;
    return {
      kind: 'delete-pod',
      namespace,
      name: planned.name,
      ...(planned.node === undefined ? {} : { node: planned.node }),
      uid: pod.uid,
      resourceVersion: pod.resourceVersion,
    };
  };
}
