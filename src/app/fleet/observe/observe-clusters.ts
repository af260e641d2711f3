/**
 * Looks at the clusters of a list, or of a stage: judges those that were given a release, and of
 * the others finds as many as may be given it. These go first, so that no gift waits for the whole
 * look. Of thousands a step looks at as many as it has time for (looks.ts).
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { isOnItsWay, judgeCluster, rolloutOf } from '../../../core/fleet/rollout/judge-cluster.ts';
import type { ClusterVerdict } from '../../../core/fleet/rollout/judge-cluster.ts';
import { notRendered, noteVerdict, type Noted } from '../../../core/fleet/rollout/note-verdict.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  MemberList,
} from '../../../core/fleet/rollout/fleet-record.ts';
import type {
  GivenCluster,
  KeptLook,
  ObservedStage,
} from '../../../core/fleet/rollout/tally-stage.ts';
import type { FleetInstance } from '../../../ports/stores/fleet-rollout-store.ts';
import { readList } from '../member-lists.ts';
import { GIVEN_MAX, READ_AT_ONCE } from './dependencies.ts';
import type { Recorded, ObserveDependencies } from './looks.ts';
import { readEvidence, type FoundCluster } from './read-evidence.ts';
import type { ReleaseRendering } from './release-rendering.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { rollingMaxOf } from '../../../core/fleet/rollout/advance-fleet.ts';
import { isToTryAgain } from '../../../core/fleet/rollout/failure-class.ts';

/** A cluster that can be given something now. */
export interface ReachableCluster {
  readonly registration: ClusterRegistration;
  /** Of its last record; absent: it has none. */
  readonly record?: FleetClusterRecord;
  /** True if its view shows a DaemonSet of that name already. */
  readonly hasDaemonSet: boolean;
  /** Nodes that run it, of those that should, before it is given anything; absent: there is none, or its status says nothing. */
  readonly nodes?: NonNullable<FleetClusterRecord['nodes']>;
}

/** The looks at a list. */
export interface ObservedClusters {
  readonly seen: ObservedStage;
  /** All of the list, in its order, and what is recorded of those that were ever given something. */
  readonly listed: readonly ClusterId[];
  readonly records: ReadonlyMap<ClusterId, FleetClusterRecord>;
  /** Next to be given it, in their order. */
  readonly reachable: readonly ReachableCluster[];
  /** Given it, and to be given the same once more: it did not arrive, or another client took it back. */
  readonly again: readonly ReachableCluster[];
  readonly changed: readonly FleetClusterRecord[];
  /** Out of reach, given it or not. */
  readonly offline: readonly ClusterId[];
}

interface ObservedRollout {
  readonly key: FleetInstance;
  readonly list: MemberList;
  readonly rendering: ReleaseRendering;
  /** The clusters of the list to look at; absent: all. */
  readonly isMember?: (record: FleetClusterRecord | undefined) => boolean;
  readonly isGiven: (record: FleetClusterRecord) => boolean;
  /** Waiting clusters that are looked for. */
  readonly roomFor: number;
}

/** Of those that were given it how many are not known to run it yet, besides those that are to be given it again. */
export function onTheirWayBesides(
  { seen: { given } }: Pick<ObservedClusters, 'seen'>,
  again: readonly ReachableCluster[],
): number {
  const names = new Set(again.map(({ registration }) => registration.id));
  return given.filter(({ record, verdict }) => isOnItsWay(verdict) && !names.has(record.cluster))
    .length;
}

/** Looks at them. Rejects when the list or the records cannot be read. */
export async function observeClusters(
  rollout: ObservedRollout,
  dependencies: ObserveDependencies,
): Promise<ObservedClusters> {
  const { key, list, isGiven, isMember = () => true } = rollout;
  const { looks } = dependencies;
  const listed = await readList(key, list, dependencies);
  const records = await dependencies.rollouts.readClusterRecords(key, listed);
  const members = listed.filter((id) => isMember(records.get(id)));
  const given = members.flatMap((id) => {
    const record = records.get(id);
    return record !== undefined && isGiven(record) ? [record] : [];
  });
  const givenIds = new Set(given.map(({ cluster }) => cluster));
  const waiting = members
    .filter((id) => !givenIds.has(id))
    .map((id) => ({ id, record: records.get(id) }));
  const next = await findReachable(waiting, rollout, dependencies);
  const inOrder = looks.inOrder(given, recordedOf);
  const judged = await sideBySide(inOrder, READ_AT_ONCE, (record) =>
    judge(record, rollout, dependencies),
  );
  const unseen = judged.filter(({ cluster: { record } }) => !looks.isRecent(recordedOf(record)));
  return {
    seen: {
      given: judged.map(({ cluster }) => cluster),
      unseenClusters: unseen.length + next.unseenClusters,
      waitingClusters: waiting.length - next.offline.length - next.untouchedClusters,
      offlineClusters: next.offline.length,
      untouchedClusters: next.untouchedClusters,
    },
    listed,
    records,
    reachable: [...judged.flatMap(({ rebuilt }) => rebuilt ?? []), ...next.reachable],
    again: judged.flatMap(({ again }) => again ?? []),
    changed: judged.flatMap(({ changed }) => changed ?? []),
    offline: [
      ...judged.flatMap(({ cluster }) =>
        cluster.verdict.kind === 'offline' ? [cluster.record.cluster] : [],
      ),
      ...next.offline,
    ],
  };
}

interface Judged {
  readonly cluster: GivenCluster;
  /** It has nothing of it any more, and is given it as those that wait are. */
  readonly rebuilt?: ReachableCluster;
  readonly again?: ReachableCluster;
  readonly changed?: FleetClusterRecord;
}

async function judge(
  record: FleetClusterRecord,
  { key, rendering }: ObservedRollout,
  dependencies: ObserveDependencies,
): Promise<Judged> {
  const { looks, clock } = dependencies;
  if (!looks.mayLook(recordedOf(record))) return { cluster: looks.remembered(record) };
  const found = await readEvidence(record.cluster, key, dependencies);
  const verdict = verdictOf(record, found, rendering);
  const nowMs = clock.nowMs();
  const noted = noteVerdict(record, verdict, nowMs);
  const { kind } = verdict;
  const isRebuilt = kind === 'rebuilt';
  const again = isRebuilt ? undefined : againOf(record, { found, noted, nowMs });
  const rebuilt =
    isRebuilt && found.registration !== undefined
      ? reachableOf(found.registration, { found, record: noted.record })
      : undefined;
  const ratios = defined({ ratios: ratiosOf(found) });
  looks.keep(recordedOf(noted.record), { kind, ...ratios });
  return {
    cluster: { record: noted.record, verdict, ...ratios },
    ...defined({ rebuilt, again }),
    ...(noted.record === record ? {} : { changed: noted.record }),
  };
}

function recordedOf(record: FleetClusterRecord): Recorded {
  return { id: record.cluster, record };
}

interface Look {
  readonly found: FoundCluster;
  readonly noted: Noted;
  readonly nowMs: number;
}

/** To be given the same once more: another client took it back, or no answer came. Undefined: it is not, or is out of reach. */
function againOf(
  { appliedGeneration, phase, dueAtMs }: FleetClusterRecord,
  { found, noted, nowMs }: Look,
): ReachableCluster | undefined {
  const { evidence, registration } = found;
  const isUnanswered = appliedGeneration === undefined && phase !== 'failed' && nowMs >= dueAtMs;
  if (!noted.isToGive && !isUnanswered) return undefined;
  if (registration === undefined || evidence.kind !== 'heard') return undefined;
  return reachableOf(registration, { found, record: noted.record });
}

function ratiosOf({ evidence }: FoundCluster): GivenCluster['ratios'] {
  if (evidence.kind !== 'heard') return undefined;
  const { daemonSet, state } = evidence;
  if (daemonSet === undefined || daemonSet === null) return undefined;
  return rolloutOf(daemonSet, state)?.trial.logRatios;
}

function verdictOf(
  record: FleetClusterRecord,
  { evidence, registration }: FoundCluster,
  rendering: ReleaseRendering,
): ClusterVerdict {
  if (registration === undefined)
    return evidence.kind === 'gone' ? { kind: 'gone' } : { kind: 'awaited' };
  const rendered = rendering.renderFor(registration, record);
  if (rendered.kind === 'rendered') return judgeCluster(record, rendered.manifest, evidence);
  return { kind: 'failed', failure: { ...notRendered(rendered), nodes: [] } };
}

function reachableOf(
  registration: ClusterRegistration,
  of: { readonly found: FoundCluster; readonly record?: FleetClusterRecord },
): ReachableCluster {
  const { evidence } = of.found;
  const daemonSet = evidence.kind === 'heard' ? evidence.daemonSet : undefined;
  const hasDaemonSet = evidence.kind === 'heard' && daemonSet !== null;
  return {
    registration,
    hasDaemonSet,
    ...defined({ record: of.record, nodes: nodesOf(daemonSet) }),
  };
}

function nodesOf(daemonSet: DaemonSetObject | null | undefined): ReachableCluster['nodes'] {
  const desired = daemonSet?.status?.desiredNumberScheduled;
  return desired === undefined ? undefined : { updated: 0, desired };
}

interface Next {
  readonly reachable: readonly ReachableCluster[];
  readonly offline: readonly ClusterId[];
  readonly untouchedClusters: number;
  readonly unseenClusters: number;
}

/** Goes through the waiting ones until there are as many as there is room for; who was out of reach before goes last. */
async function findReachable(
  waiting: readonly Recorded[],
  { key, roomFor }: ObservedRollout,
  dependencies: ObserveDependencies,
): Promise<Next> {
  const { looks } = dependencies;
  const room = Math.min(roomFor, GIVEN_MAX);
  const isAway = (one: Recorded): boolean => isOutOfReach(looks.known(one)?.kind);
  const away = looks.inOrder(waiting.filter(isAway), (one) => one);
  const inOrder = [...waiting.filter((one) => !isAway(one)), ...away];
  const reachable: ReachableCluster[] = [];
  for (let from = 0; from < inOrder.length && reachable.length < room; from += READ_AT_ONCE) {
    const chunk = inOrder.slice(from, from + READ_AT_ONCE).filter((one) => looks.mayLook(one));
    const read = await sideBySide(chunk, READ_AT_ONCE, async (one) => {
      return { ...one, found: await readEvidence(one.id, key, dependencies) };
    });
    for (const { id, record, found } of read) {
      const { evidence, registration } = found;
      if (evidence.kind === 'heard' && registration !== undefined) {
        reachable.push(reachableOf(registration, { found, ...defined({ record }) }));
      }
      looks.keep({ id, record }, { kind: evidence.kind === 'heard' ? 'unclear' : evidence.kind });
    }
  }
  const found = room === 0 ? [] : waiting.filter(isAway);
  const offline = found.filter((one) => looks.known(one)?.kind === 'offline');
  return {
    reachable: reachable.slice(0, room),
    offline: offline.map(({ id }) => id),
    untouchedClusters: found.length - offline.length,
    unseenClusters: found.filter((one) => !looks.isRecent(one)).length,
  };
}

/** Silent, or not ours to change. */
function isOutOfReach(kind: KeptLook['kind'] | undefined): boolean {
  return kind === 'offline' || kind === 'untouched' || kind === 'gone';
}

interface StageOf {
  readonly fleet: FleetDaemonSet;
  readonly record: FleetRecord;
  readonly rendering: ReleaseRendering;
  readonly stage: number;
}

/** The looks; undefined: there is no such stage. Rejects when a table fails. */
export async function observeStage(
  { fleet, record, rendering, stage }: StageOf,
  dependencies: ObserveDependencies,
): Promise<ObservedClusters | undefined> {
  const dealt = record.stages[stage];
  if (dealt === undefined || stage >= fleet.strategy.stages.length) return undefined;
  const { contentHash } = record.release;
  const isOpen = stage === record.stage;
  return observeClusters(
    {
      key: record,
      list: dealt.members,
      rendering,
      // A cluster of which a few nodes have it is not given it yet as far as the next stage goes.
      isGiven: (one) =>
        one.contentHash === contentHash &&
        !(one.isPartial && stage > 0) &&
        !(isOpen && isToTryAgain(one, record)),
      roomFor: isOpen ? rollingMaxOf(record, fleet.strategy) : 0,
    },
    dependencies,
  );
}

/** All stages before the open one. */
export async function readWidely(
  open: number,
  see: (stage: number) => Promise<ObservedClusters | undefined>,
): Promise<ReadonlyMap<number, ObservedClusters>> {
  const passed = new Map<number, ObservedClusters>();
  for (let stage = 0; stage < open; stage += 1) {
    const seen = await see(stage);
    if (seen !== undefined) passed.set(stage, seen);
  }
  return passed;
}
