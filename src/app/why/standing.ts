/**
 * Gathers what may make an answer from stored state untrue (core/status/outages.ts): a note of a stop, the walk of `resync`, what the
 * watcher sent, and whether runs came.
 *
 * A few reads of single items beside what an answer is made of anyway; nothing is asked of AWS or of a cluster.
 */
import { defined } from '@rollcall/base/defined.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { compareStamps, laterStamp } from '../../core/model/position.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import { findOutages, missedRunSinceMs } from '../../core/status/outages.ts';
import type { Outage, OutageFacts, StackStanding } from '../../core/status/outages.ts';
import { standingFreeze, type Freeze, type StandingFreeze } from '../../core/may-act/freeze.ts';
import { freezeInForce } from '../../core/may-act/registration-guard.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import type { FreezeStore } from '../../ports/stores/freeze-store.ts';
import type { WalkStore } from '../../ports/stores/view-store.ts';
import { readStored, type StoredInputs } from '../reconcile/read/stored-inputs.ts';
import { isNewerThanRun } from '../reconcile/read/skip.ts';

export interface StandingSources {
  readonly freezes: Pick<FreezeStore, 'readStop'>;
  readonly view: Pick<WalkStore, 'readWalk'>;
}

/** Reads it. Rejects when a table fails. */
export async function readStanding({ freezes, view }: StandingSources): Promise<StackStanding> {
  const [stop, walk] = await Promise.all([freezes.readStop(), view.readWalk()]);
  return defined({ stop, walkedAtMs: walk?.untilMs });
}

/** What stands in the way of the whole stack. */
export function outagesOfStack(
  stack: StackStanding,
  { freeze, nowMs }: { readonly freeze?: Freeze | 'unreadable'; readonly nowMs: number },
): readonly Outage[] {
  return findOutages({ ...stack, nowMs, ...frozenAs(ofAll(freeze), '') });
}

/** What stands in the way of what has this name in every cluster: a fleet. */
export function outagesOfSubject(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  question: {
    readonly standing: StackStanding;
    readonly freeze: Freeze | 'unreadable';
    readonly nowMs: number;
    readonly missedSinceMs: number | undefined;
  },
): readonly Outage[] {
  const { standing, freeze, nowMs, missedSinceMs: missed } = question;
  const frozen = freeze === 'unreadable' ? freeze : standingFreeze(freeze, { namespace, name });
  return findOutages({
    ...{ ...standing, nowMs },
    ...frozenAs(frozen, `${namespace}/${name}`),
    ...defined({ missedSinceMs: missed }),
  });
}

interface ClusterQuestion {
  readonly meta: ClusterMeta | undefined;
  readonly nowMs: number;
  /** Absent, as the freeze: what holds for the whole stack is told elsewhere. */
  readonly standing?: StackStanding;
  readonly freeze?: Freeze | 'unreadable';
  /** Since when runs of its DaemonSets are missed. */
  readonly missed?: readonly number[];
}

/** What stands in the way of one cluster. */
export function outagesOfCluster(
  registration: ClusterRegistration,
  { meta, nowMs, standing, freeze, missed = [] }: ClusterQuestion,
): readonly Outage[] {
  const { id } = registration;
  const all = ofAll(freeze);
  const frozen = all === 'unreadable' ? all : freezeInForce(registration, all);
  return findOutages({
    ...{ ...standing, nowMs, cluster: { id, ...defined({ meta }) } },
    ...frozenAs(frozen, id),
    ...(missed.length === 0 ? {} : { missedSinceMs: Math.min(...missed) }),
  });
}

/** A DaemonSet whose run should have come. */
export interface MissedRun {
  /** namespace/name. */
  readonly name: string;
  readonly sinceMs: number;
}

/** DaemonSets of a cluster that are asked for, of their names in order. */
const ASKED_MAX = 50;

/** Which of a cluster's DaemonSets, the first fifty, had no run when they should have. Rejects when a table fails. */
export async function findMissedRuns(
  registration: ClusterRegistration,
  sources: Parameters<typeof readStored>[1],
  nowMs: number,
): Promise<readonly MissedRun[]> {
  const { names } = await sources.view.listNames(registration.clusterUid, { limit: ASKED_MAX });
  const found = await Promise.all(
    names
      .filter((item) => item.uid !== null && !hasSentinelName(item))
      .map(async ({ namespace, name }) => {
        const read = await readStored(
          hintFor(registration, { namespace, name }, 'manual'),
          sources,
        );
        const sinceMs = read.kind === 'read' ? missedSinceMs(read.stored, nowMs) : undefined;
        return sinceMs === undefined ? [] : [{ name: `${namespace}/${name}`, sinceMs }];
      }),
  );
  return found.flat();
}

/** What stands in the way of one DaemonSet: of its stack and cluster, and whether its runs come. */
export function outagesOfBasis(
  stored: StoredInputs,
  { standing, nowMs }: { readonly standing: StackStanding; readonly nowMs: number },
): readonly Outage[] {
  const { registration, meta, state, daemonSet } = stored;
  const frozen = freezeInForce(registration, stored.frozen);
  const { namespace = '', name = '' } = daemonSet.object?.metadata ?? {};
  const subject = frozen?.scope === 'daemon-set' ? `${namespace}/${name}` : registration.id;
  return findOutages({
    ...{ ...standing, nowMs, cluster: { id: registration.id, meta } },
    ...frozenAs(frozen, subject),
    ...defined({ missedSinceMs: missedSinceMs(stored, nowMs), ranAtMs: state?.memo?.ranAtMs }),
  });
}

/** Since when a run of this DaemonSet is missed; undefined: none is. */
export function missedSinceMs(stored: StoredInputs, nowMs: number): number | undefined {
  const { state, meta, daemonSet } = stored;
  // Whether a run leaves anything behind cannot be seen in an opaque object.
  if (state === undefined && daemonSet.object === null) return undefined;
  const unseenSinceMs =
    state === undefined || isNewerThanRun(stored) ? sentBeforeMs(stored, meta) : undefined;
  return missedRunSinceMs({ state, unseenSinceMs, nowMs });
}

/** When the newest change of a DaemonSet was sent at the latest: between two messages META tells it to some minutes. */
function sentBeforeMs(
  { position, daemonSet }: StoredInputs,
  { earlier, lastSentAtMs }: ClusterMeta,
): number {
  const { podsChanged, revisionsChanged } = position;
  const newest = laterStamp(laterStamp(podsChanged, revisionsChanged), daemonSet.stamp);
  const isOlder = earlier !== undefined && compareStamps(newest, earlier.first.stamp) <= 0;
  return isOlder ? earlier.first.sentAtMs : lastSentAtMs;
}

function ofAll(
  freeze: Freeze | 'unreadable' | undefined,
): StandingFreeze | 'unreadable' | undefined {
  if (freeze === 'unreadable') return freeze;
  return freeze?.all && { scope: 'stack', note: freeze.all };
}

function frozenAs(
  frozen: StandingFreeze | 'unreadable' | undefined,
  subject: string,
): Pick<OutageFacts, 'frozen'> {
  if (frozen === undefined) return {};
  if (frozen === 'unreadable') return { frozen };
  const { scope } = frozen;
  const thaw =
    scope === 'stack'
      ? 'rollcall thaw --yes'
      : `rollcall thaw --${scope === 'cluster' ? 'cluster' : 'daemon-set'} ${subject}`;
  return { frozen: { ...frozen, thaw } };
}
