/**
 * A live read of each pod before it is deleted (design 3, step 5; S3, S4), unless its version says as much (`victimTrust`).
 *
 * UID, owner, not terminating, and the reason still holds (confirm-reason.ts): then the live
 * resourceVersion becomes the precondition of the delete, so a status change that the watcher's
 * filter dropped cannot make it fail for ever (row 77). What cannot be confirmed is not deleted.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DeletePodEffect } from '../../../core/model/effects.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Uid } from '../../../core/model/identifiers.ts';
import type { DeleteReason, PlannedDelete, View } from '../../../core/model/plan.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { ReasonJudge, shareReads, type ReasonContext } from './confirm-reason.ts';
import { isReplanned, type DaemonSetConfirmation } from './live-daemon-set.ts';
import { projectLivePod } from '../../../core/projections/project.ts';
import type { OwnPods } from './live-pods.ts';
import type { MovedVictims } from '../../../core/model/state.ts';

/** Live reads sent side by side. */
const READS_AT_ONCE = 50;

export interface ConfirmContext extends Pick<ReasonContext, 'view' | 'currentHash' | 'nowMs'> {
  readonly reader: ClusterReader;
  readonly trust: VictimTrust;
  readonly ownPods: OwnPods;
  /** False once the deadline passed: no further read is started. */
  readonly mayContinue: () => boolean;
}

/** A delete that may be sent. */
export interface ConfirmedDelete {
  readonly planned: PlannedDelete;
  readonly effect: DeletePodEffect;
  /** Where the precondition comes from. */
  readonly from: 'read' | 'view';
}

export interface VictimConfirmation {
  readonly confirmed: readonly ConfirmedDelete[];
  /** Gone, terminating, re-made, or the reason holds no more: the view will show it. */
  readonly dropped: readonly PlannedDelete[];
  /** Not readable now: look again. */
  readonly unreadable: readonly PlannedDelete[];
}

type Verdict = 'unreadable' | 'dropped' | Omit<ConfirmedDelete, 'planned'>;

/** Reads every victim live whose version does not say enough. */
export async function confirmVictims(
  deletes: readonly PlannedDelete[],
  context: ConfirmContext,
): Promise<VictimConfirmation> {
  const confirmed: ConfirmedDelete[] = [];
  const dropped: PlannedDelete[] = [];
  const unreadable: PlannedDelete[] = [];
  const seen = deletes.filter((planned) => context.trust(planned) === 'as-seen');
  if (context.mayContinue()) await context.ownPods.learn(seen.map(({ uid }) => uid));
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
      else confirmed.push({ planned, ...verdict });
    }
  }
  return { confirmed, dropped, unreadable };
}

function confirmerOf(
  deletes: readonly PlannedDelete[],
  { reader, trust, ownPods, view, currentHash, nowMs }: ConfirmContext,
): (planned: PlannedDelete) => Promise<Verdict> {
  const { namespace } = view;
  const reads = shareReads(reader, namespace);
  const victims = new Set(deletes.map(({ uid }) => uid));
  const judge = new ReasonJudge({ view, currentHash, victims, reads, nowMs });
  return async (planned) => {
    const own = trust(planned) === 'as-seen' ? ownPods.find(planned.uid) : undefined;
    if (own !== undefined && isOf(view, own) && judge.isOfAnother(planned, own))
      return confirmedAs(planned, 'view', namespace);
    const live = await reads.pod(planned.name);
    if (live.kind === 'unavailable') return 'unreadable';
    if (live.kind === 'missing') return 'dropped';
    const pod = projectLivePod(live.object);
    if (pod.uid !== planned.uid || !isOf(view, pod)) return 'dropped';
    const reason = await judge.judge(planned, pod);
    if (reason !== 'holds') return reason;
    return confirmedAs({ ...planned, resourceVersion: pod.resourceVersion }, 'read', namespace);
  };
}

function isOf(
  { uid }: View,
  { ownerUid, isTerminating }: { readonly ownerUid?: Uid; readonly isTerminating: boolean },
): boolean {
  return ownerUid === uid && !isTerminating;
}

function confirmedAs(
  { node, name, uid, resourceVersion }: PlannedDelete,
  from: ConfirmedDelete['from'],
  namespace: string,
): Omit<ConfirmedDelete, 'planned'> {
  const effect: DeletePodEffect = {
    kind: 'delete-pod',
    namespace,
    name,
    ...defined({ node }),
    uid,
    resourceVersion,
  };
  return { effect, from };
}

/** Deletes that are wanted only for the sake of the template. */
const TEMPLATE_REASONS: readonly DeleteReason[] = ['outdated', 'replaced', 'vacated', 'not-wanted'];

/**
 * Keeps what goes for the template only if the live DaemonSet has the spec that was planned for. After an edit or an undo
 * that the view does not show yet, what the plan calls outdated may be current again: an undo half-way must restart no
 * pod that was never replaced (spec 2.10), and where no pod belonged one may belong by now (S3). Asked after the victims
 * were read, and again before each later batch. Equal generations are not enough: a restored etcd gives them out again
 * (faults row 71).
 */
export function confirmEdit(
  victims: VictimConfirmation,
  live: DaemonSetConfirmation,
  planned: DaemonSetObject,
): VictimConfirmation {
  if (live.kind === 'confirmed' && !isReplanned(live.object, planned)) return victims;
  const held = victims.confirmed.filter(isForTemplate).map((victim) => victim.planned);
  const confirmed = victims.confirmed.filter((victim) => !isForTemplate(victim));
  return live.kind === 'unavailable'
    ? { ...victims, confirmed, unreadable: [...victims.unreadable, ...held] }
    : { ...victims, confirmed, dropped: [...victims.dropped, ...held] };
}

/** True if only the template wants this pod gone: its content, or where it places pods. */
export function isForTemplate({ planned }: ConfirmedDelete): boolean {
  return TEMPLATE_REASONS.includes(planned.repeats ?? planned.reason);
}

// Victims by their version (ADR 0071; S3, S4): an available pod that the rolling update paid for is what was planned on
// while it has the version that was seen, and the API server compares that in the request that deletes it. A version
// that moved is answered by a conflict, and the state remembers whose did: such a pod is read first the next time.

/** So many pods are remembered, in some 1,400 bytes of a state. Once that many had moved, their writer writes all. */
export const MOVED_VICTIMS_MAX = 128;
/** So long after the last conflict all is forgotten: those pods are gone by then, or the writer is done. */
const REMEMBERED_MS = 10 * 60_000;

/** How victims are confirmed: each by a live read, or by its version where that says enough. */
export type VictimTrust = (planned: PlannedDelete) => 'read' | 'as-seen';

/** How a run confirms its victims; `isLive`: its view was not fresh. */
export function victimTrust(
  moved: MovedVictims | undefined,
  { isLive, nowMs }: { readonly isLive: boolean; readonly nowMs: number },
): VictimTrust {
  const movedEnds = new Set(isRemembered(moved, nowMs) ? moved.uidEnds : []);
  if (isLive || movedEnds.size >= MOVED_VICTIMS_MAX) return () => 'read';
  return (planned) =>
    isWellSeen(planned) && !movedEnds.has(endOf(planned.uid)) ? 'as-seen' : 'read';
}

/** True of a victim whose version says all that a live read would. A repeat is none: an earlier run may have met a conflict. */
function isWellSeen({ reason, isAvailable }: PlannedDelete): boolean {
  return reason === 'outdated' && isAvailable;
}

/** What the state remembers after a run in which these had moved. */
export function rememberMoved(
  moved: MovedVictims | undefined,
  uids: readonly Uid[],
  nowMs: number,
): MovedVictims | undefined {
  if (uids.length === 0) return moved;
  const former = isRemembered(moved, nowMs) ? moved.uidEnds : [];
  const ends = uids.map(endOf);
  const all = [...former.filter((end) => !ends.includes(end)), ...ends];
  return { uidEnds: all.slice(-MOVED_VICTIMS_MAX), atMs: nowMs };
}

function endOf(uid: Uid): string {
  return uid.slice(-8);
}

function isRemembered(moved: MovedVictims | undefined, nowMs: number): moved is MovedVictims {
  return moved !== undefined && nowMs - moved.atMs < REMEMBERED_MS;
}
