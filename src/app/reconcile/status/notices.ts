/**
 * Tells on a DaemonSet that Rollcall does nothing for it, for a rival or for its own pause: a status condition, then one Event.
 *
 * The condition is written first, over what a live read shows. A run that finds it there neither writes it
 * again nor sends the Event. The write repeats the counters of that read, because they belong to the other
 * controller now.
 */
import {
  isPaused,
  noticeEvent,
  pauseNotice,
  rivalNotice,
  withPauseNotice,
} from '../../../core/status/pause-notice.ts';
import type { PauseNotice } from '../../../core/status/pause-notice.ts';
import type { Guard, Plan, RemovalNotice, RemovalSuspect } from '../../../core/model/plan.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { NotedStep, Step, RunContext } from '../run/context.ts';
import { writeStatus } from './write-status.ts';
import type { StatusFor } from './write-status.ts';
import { NOT_STAGED, notStagedEvent } from '../../../core/events/events.ts';
import { explainNotFollowed } from '../../../core/may-act/opt-in.ts';
import { findAuthor } from '../../../core/removal-guard/removal-author.ts';
import type { RemovalAuthor } from '../../../core/removal-guard/removal-author.ts';
import { describe, removalEvent } from '../../../core/removal-guard/removal-events.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import { keyOf } from '../run/context.ts';

interface NoticeStep extends Omit<NotedStep, 'access'> {
  readonly guard: Guard;
}

/** Tells it once, if there is something to tell; answers the access that the event is written with, if there is one to write. */
export async function giveRivalNotice(step: NoticeStep): Promise<ClusterAccess | undefined> {
  const { context, input, result } = step;
  const notice = noticeOf(step);
  if (notice === undefined || isPaused(input.daemonSet.status, notice)) return undefined;
  const access = await input.access.get();
  if (access === undefined) {
    const message = 'the notice that says why nothing is done could not be written';
    result.add({ code: 'no-access', message, pace: 'backoff' });
    return undefined;
  }
  const nowMs = context.dependencies.clock.nowMs();
  const statusFor: StatusFor = ({ status }) =>
    isPaused(status, notice) ? undefined : withPauseNotice(status, notice, nowMs);
  const write = await writeStatus(statusFor, { context, input, access });
  switch (write.kind) {
    case 'written':
      result.isStatusWritten = true;
      result.noteWritten('daemonSet', write.version);
      result.events.push(noticeEvent(notice));
      return access;
    case 'conflict': {
      const message = 'the DaemonSet changed since it was seen; its notice waits for another look';
      result.add({ code: 'status-conflict', message, pace: 'soon' });
      return undefined;
    }
    case 'gone':
      return undefined;
    case 'failed':
      result.add({ code: 'cluster-unavailable', message: write.message, pace: 'backoff' });
      return undefined;
  }
}

/** By the guard: what keeps the run from acting is what is told. */
function noticeOf({ input, guard }: NoticeStep): PauseNotice | undefined {
  if (guard.kind === 'act') return undefined;
  const { rival } = input.stored.registration;
  if (guard.code === 'conflicting-controller') return rival && rivalNotice(rival);
  return guard.code === 'conflict-suspected' ? pauseNotice(guard.message) : undefined;
}

// In copilot, a policy without effect because the strategy is RollingUpdate: one Event, remembered by the state's tallies.

/** Adds the Event once; answers the access that it is written with, if there is one to write. */
export async function giveNotStagedNotice({
  guard,
  input,
  result,
}: NoticeStep): Promise<ClusterAccess | undefined> {
  if (guard.kind !== 'observe' || guard.code !== 'rolling-update') return undefined;
  const isTold = (input.state.events ?? []).some(({ reason }) => reason === NOT_STAGED);
  if (isTold) return undefined;
  const access = await input.access.get();
  // A courtesy: without a way in nothing is put off for it, and the next run tries again.
  if (access !== undefined) result.events.push(notStagedEvent(explainNotFollowed(guard.code)));
  return access;
}

// A shrink that is held, seen, confirmed or over, told by the run whose record it enters. Who made the change is read
// live, because projections hold no managedFields; an answer that does not come only costs the name.

/** Tells what a plan has to say of a mass removal; answers the access that its Event is written with. */
export async function giveRemovalNotice(
  { shrink }: Pick<Plan, 'shrink'>,
  { context, input, result }: Omit<NoticeStep, 'guard'>,
  opened: ClusterAccess | undefined,
): Promise<ClusterAccess | undefined> {
  const notice = shrink?.notice;
  if (notice === undefined) return opened;
  const isTold = notice.kind === 'held' || notice.kind === 'alarmed';
  const access = isTold ? (opened ?? (await input.access.get())) : opened;
  const author =
    isTold && access !== undefined
      ? await readAuthor(notice.suspect, { context, access })
      : undefined;
  if (author !== undefined) result.removalAuthor = author;
  report(notice, { context, author });
  const event = removalEvent(notice, { ...keyOf(context), author });
  if (event !== undefined && access !== undefined) result.events.push(event);
  return access;
}

async function readAuthor(
  suspect: RemovalSuspect,
  { context, access }: Pick<Step, 'context' | 'access'>,
): Promise<RemovalAuthor | undefined> {
  const live =
    suspect.kind === 'node'
      ? await access.getNode(suspect.node)
      : await access.getDaemonSet(keyOf(context));
  if (live.kind !== 'found') return undefined;
  return findAuthor(live.object, suspect, context.dependencies.clock.nowMs());
}

function report(
  { kind, held }: RemovalNotice,
  { context, author }: { readonly context: RunContext; readonly author: RemovalAuthor | undefined },
): void {
  const { metrics, log } = context.dependencies;
  metrics.count('ReconcileShrinks', { outcome: kind });
  const fields = { key: formatKey(context.hint.key), code: kind, detail: describe(held, author) };
  if (kind === 'held' || kind === 'alarmed') log.warn('many pods of a DaemonSet are to go', fields);
  else log.info('many pods of a DaemonSet go no more', fields);
}

// A staged rollout, for who has no way into the cluster, and for alarms: a halt is a warning whose code is the cause.
// A run that loses its write may tell it twice. An invalid policy enters no record: each run that plans says it.

const OUTCOMES: Readonly<Record<string, string | undefined>> = {
  RolloutHalted: 'halted',
  RolloutStep: 'opened',
  RolloutCanaryLost: 'lost',
  RolloutSoakLost: 'soak-lost',
  RolloutComplete: 'complete',
  InvalidRolloutPolicy: 'invalid',
};

/** Logs and counts what a plan tells of its stages. */
export function noteStages(
  { stageEvents, stages }: Pick<Plan, 'stageEvents' | 'stages'>,
  { hint, dependencies }: RunContext,
): void {
  const { metrics, log } = dependencies;
  for (const { reason, message, isStanding } of stageEvents) {
    const outcome = OUTCOMES[reason];
    // What stands was told when it came; only of a policy no record says whether it was.
    if (outcome === undefined || (isStanding === true && stages !== undefined)) continue;
    metrics.count('ReconcileStages', { outcome });
    const told = { key: formatKey(hint.key), detail: message };
    if (stages === undefined) {
      log.warn('a rollout is held by its policy', { ...told, code: 'policy-invalid' });
      continue;
    }
    const { hash: revision, breach } = stages.record;
    const fields = { ...told, revision };
    if (outcome === 'halted' && breach !== undefined) {
      const { cause: code, nodes } = breach;
      log.warn('a rollout is halted', { ...fields, code, nodes: nodes.join(' ') });
    } else if (outcome === 'lost')
      log.warn('a rollout is held by its canary', { ...fields, code: outcome });
    else log.info('a rollout goes on', { ...fields, code: outcome });
  }
}
