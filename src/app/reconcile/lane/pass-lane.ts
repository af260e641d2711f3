/**
 * Gives nodes of the lane back, and claims those whose pod is about to go: before intents are recorded (ADR 0058).
 *
 * A delete that finds its node taken is left out, so it is not recorded and not sent; the key waits in the lane's list and is
 * hinted when an entry goes, or looks again by its back-off. A claim whose run dies before it records anything counts for
 * nothing once no request of that run can be alive.
 */
import { counted } from '@rollcall/base/counted.ts';
import { claimLane, releaseLane, withWaiter } from '../../../core/lane/claim-lane.ts';
import type { LaneRelease } from '../../../core/lane/claim-lane.ts';
import { EMPTY_LANE } from '../../../core/lane/lane.ts';
import type { Lane, LaneEntry } from '../../../core/lane/lane.ts';
import type { NodeName } from '../../../core/model/identifiers.ts';
import { hintFor } from '../../../core/model/hint.ts';
import type { Plan, PlannedEvent } from '../../../core/model/plan.ts';
import { requestLifeMs } from '../../../core/pod/request-life.ts';
import type { ConfirmedPlan } from '../confirm/confirm.ts';
import type { ConfirmedDelete } from '../confirm/confirm-victims.ts';
import { effectDeadlineMs, keyOf } from '../run/context.ts';
import type { RunContext, Subject } from '../run/context.ts';
import type { Ledger } from '../run/ledger.ts';
import { textOf } from './find-circle.ts';
import type { LaneStanding } from './find-lane.ts';

/** Attempts at one write of the lane; others write it as well. */
const WRITES_MAX = 4;

/** What passing works with. */
export interface LaneInput {
  readonly context: RunContext;
  readonly subject: Pick<Subject, 'basis' | 'nowMs'>;
  readonly ledger: Ledger;
  /** Absent: the run has nothing to do with the lane. */
  readonly lane?: LaneStanding;
}

/** Gives back what does not count any more, wakes who waits, and notes that this run does; answers the lane as it stands. */
export async function leaveLane(
  { laneWaitsCount }: Pick<Plan, 'laneWaitsCount'>,
  input: LaneInput,
): Promise<LaneStanding | undefined> {
  const { context, subject, ledger, lane: standing } = input;
  if (standing === undefined) return undefined;
  if (laneWaitsCount > 0) noteBusy(laneWaitsCount, ledger);
  if (standing.circles.length > 0) ledger.events.push(circleEvent(standing.circles));
  const { ref, registration } = subject.basis;
  let { lane } = standing;
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const release: LaneRelease = releaseLane(lane, ref.uid, standing.freed) ?? { lane, woken: [] };
    const waiters =
      laneWaitsCount > 0 ? withWaiter(release.lane.waiters, keyOf(context)) : release.lane.waiters;
    if (release.lane === lane && waiters === lane.waiters) break;
    const next = { ...release.lane, waiters };
    if ((await context.dependencies.view.writeLane(ref.clusterUid, next)) === 'written') {
      lane = { ...next, version: next.version + 1 };
      await wake(release, { context, registration });
      break;
    }
    lane = await readAgain(input);
  }
  return { ...standing, lane, freed: [] };
}

/** Once an hour while it stands so. */
function circleEvent(circles: LaneStanding['circles']): PlannedEvent {
  const names = circles.map(textOf).join(', ');
  const message = `The rollout does not wait for ${names}, which 'after' names, because they wait for this DaemonSet as well`;
  return { type: 'Warning', reason: 'RolloutOrderCircle', message, isStanding: true };
}

async function wake(
  { woken }: LaneRelease,
  {
    context,
    registration,
  }: { readonly context: RunContext; readonly registration: Subject['basis']['registration'] },
): Promise<void> {
  const own = keyOf(context);
  const others = woken.filter(
    ({ namespace, name }) => namespace !== own.namespace || name !== own.name,
  );
  if (others.length === 0) return;
  const { queue, random } = context.dependencies;
  const hints = others.map((key) => hintFor(registration, key, 'changed'));
  await queue.sendHints(hints, `lane/${random.uniqueId()}/`);
}

async function readAgain({ context, subject }: LaneInput): Promise<Lane> {
  const { clusterUid } = subject.basis.ref;
  return (await context.dependencies.view.readLane(clusterUid)) ?? EMPTY_LANE;
}

/** The deletes that may be recorded: those of a rolling update only with their node's lane. */
export async function claimNodes(
  confirmed: ConfirmedPlan,
  input: LaneInput,
): Promise<ConfirmedPlan> {
  const { lane: standing, ledger } = input;
  const claims = confirmed.deletes.flatMap((each) => claimOf(each, input));
  if (standing === undefined || claims.length === 0) return confirmed;
  const granted = await claim(claims, standing, input);
  const isKept = (each: ConfirmedDelete): boolean => {
    const { node } = each.effect;
    return !isReplacing(each) || node === undefined || granted.has(node);
  };
  const dropped = confirmed.deletes.filter((each) => !isKept(each));
  if (dropped.length === 0) return confirmed;
  noteBusy(dropped.length, ledger);
  return { ...confirmed, deletes: confirmed.deletes.filter(isKept) };
}

async function claim(
  claims: readonly LaneEntry[],
  { lane: first, freed }: LaneStanding,
  input: LaneInput,
): Promise<ReadonlySet<NodeName>> {
  const { view } = input.context.dependencies;
  let lane = first;
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const { lane: next, granted } = claimLane(lane, claims, freed);
    if (next === lane) return granted;
    const write = await view.writeLane(input.subject.basis.ref.clusterUid, next);
    if (write === 'written') return granted;
    lane = await readAgain(input);
  }
  return new Set();
}

function isReplacing({ planned }: ConfirmedDelete): boolean {
  return (planned.repeats ?? planned.reason) === 'outdated';
}

function claimOf(each: ConfirmedDelete, { context, subject }: LaneInput): readonly LaneEntry[] {
  const { node, uid: pod } = each.effect;
  if (node === undefined || !isReplacing(each)) return [];
  const { clock, options } = context.dependencies;
  const claimedAtMs = clock.nowMs();
  const leftMs = Math.max(0, effectDeadlineMs(context) - clock.monotonicMs());
  const deadAtMs = Math.ceil(claimedAtMs + leftMs) + requestLifeMs(options.requestTimeoutMs);
  const owner = subject.basis.ref.uid;
  return [{ node, owner, ...keyOf(context), pod, claimedAtMs, deadAtMs }];
}

function noteBusy(count: number, ledger: Ledger): void {
  const message = `${counted(count, 'node waits', 'nodes wait')} for another daemon`;
  ledger.add({ code: 'lane-busy', message, pace: 'backoff' });
}
