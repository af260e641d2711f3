/**
 * Looks at the clusters of a list: those that were given a release are judged, of the others as many are found as may be given it.
 *
 * Reads the list, the records of its clusters, and evidence of those that were given it; of waiting ones only as many as there is room
 * for, so a stage of thousands that rolls ten at a time costs ten looks. Judgements that changed a record are handed back to be written.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { isOnItsWay, judgeCluster, rolloutOf } from '../../../core/fleet/rollout/judge-cluster.ts';
import type { ClusterVerdict } from '../../../core/fleet/rollout/judge-cluster.ts';
import { notRendered } from '../../../core/fleet/rollout/may-give.ts';
import { noteVerdict } from '../../../core/fleet/rollout/note-verdict.ts';
import type { Noted } from '../../../core/fleet/rollout/note-verdict.ts';
import type { FleetClusterRecord, MemberList } from '../../../core/fleet/rollout/fleet-record.ts';
import type { GivenCluster, StageSeen } from '../../../core/fleet/rollout/tally-stage.ts';
import type { FleetInstance } from '../../../ports/stores/fleet-rollout-store.ts';
import { readList } from '../member-lists.ts';
import { READ_AT_ONCE } from './dependencies.ts';
import type { StepFleetsDependencies } from './dependencies.ts';
import { readEvidence } from './read-evidence.ts';
import type { FoundCluster } from './read-evidence.ts';
import type { ReleaseRendering } from './release-rendering.ts';

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

/** What was found of a list. */
export interface SeenClusters {
  readonly seen: StageSeen;
  /** All of the list, in its order, and what is recorded of those that were ever given something. */
  readonly listed: readonly ClusterId[];
  readonly records: ReadonlyMap<ClusterId, FleetClusterRecord>;
  /** Next to be given it, in their order. */
  readonly reachable: readonly ReachableCluster[];
  /** Given it, and to be given the same once more: it did not arrive, or somebody took it back. */
  readonly again: readonly ReachableCluster[];
  /** Records that a judgement changed. */
  readonly changed: readonly FleetClusterRecord[];
  /** Out of reach, given it or not. */
  readonly offline: readonly ClusterId[];
}

/** What is looked at. */
export interface Sight {
  readonly key: FleetInstance;
  readonly list: MemberList;
  /** What its clusters are to have. */
  readonly rendering: ReleaseRendering;
  /** Whom it is about, of the list; absent: all. */
  readonly isMember?: (record: FleetClusterRecord | undefined) => boolean;
  /** True for a record that was given it already. */
  readonly isGiven: (record: FleetClusterRecord) => boolean;
  /** Waiting clusters that are looked for. */
  readonly roomFor: number;
}

/** Of those that were given it how many are not known to run it yet, besides those that are to be given it again. */
export function onTheirWayBesides(
  { seen: { given } }: Pick<SeenClusters, 'seen'>,
  again: readonly ReachableCluster[],
): number {
  const names = new Set(again.map(({ registration }) => registration.id));
  return given.filter(({ record, verdict }) => isOnItsWay(verdict) && !names.has(record.cluster))
    .length;
}

/** Looks at them. Rejects when the list or the records cannot be read. */
export async function seeClusters(
  sight: Sight,
  dependencies: StepFleetsDependencies,
): Promise<SeenClusters> {
  const { key, list, isGiven, isMember = () => true } = sight;
  const listed = await readList(key, list, dependencies);
  const records = await dependencies.rollouts.readClusterRecords(key, listed);
  const members = listed.filter((id) => isMember(records.get(id)));
  const given = members.flatMap((id) => {
    const record = records.get(id);
    return record !== undefined && isGiven(record) ? [record] : [];
  });
  const givenIds = new Set(given.map(({ cluster }) => cluster));
  const waiting = members.filter((id) => !givenIds.has(id));
  const judged = await sideBySide(given, READ_AT_ONCE, (record) =>
    judge(record, sight, dependencies),
  );
  const rebuilt = judged.flatMap(({ cluster, found }) =>
    cluster.verdict.kind === 'rebuilt' && found.registration !== undefined
      ? [reachableOf(found.registration, { found, record: cluster.record })]
      : [],
  );
  const next = await findReachable({ waiting, records, sight }, dependencies);
  return {
    seen: {
      given: judged.map(({ cluster }) => cluster),
      waitingClusters: waiting.length - next.offline.length - next.untouchedClusters,
      offlineClusters: next.offline.length,
      untouchedClusters: next.untouchedClusters,
    },
    listed,
    records,
    reachable: [...rebuilt, ...next.reachable],
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
  readonly found: FoundCluster;
  readonly again?: ReachableCluster;
  readonly changed?: FleetClusterRecord;
}

async function judge(
  record: FleetClusterRecord,
  { key, rendering }: Sight,
  dependencies: StepFleetsDependencies,
): Promise<Judged> {
  const found = await readEvidence(record.cluster, key, dependencies);
  const verdict = verdictOf(record, found, rendering);
  const nowMs = dependencies.clock.nowMs();
  const noted = noteVerdict(record, verdict, nowMs);
  // One that was rebuilt waits anew, and is given it as those that wait are.
  const isRebuilt = verdict.kind === 'rebuilt';
  const again = isRebuilt ? undefined : againOf(record, { found, noted, nowMs });
  return {
    cluster: {
      record: noted.record,
      verdict,
      labels: found.registration?.labels ?? {},
      ...defined({ ratios: ratiosOf(found) }),
    },
    found,
    ...defined({ again }),
    ...(noted.record === record ? {} : { changed: noted.record }),
  };
}

interface Look {
  readonly found: FoundCluster;
  readonly noted: Noted;
  readonly nowMs: number;
}

/** To be given the same once more: somebody took it back, or it was not answered. Undefined: it is not, or out of reach. */
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

/** What its nodes showed against their peers. */
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

interface Waiting {
  readonly waiting: readonly ClusterId[];
  readonly records: ReadonlyMap<ClusterId, FleetClusterRecord>;
  readonly sight: Sight;
}

/** Goes through the waiting ones until there are as many as there is room for. */
async function findReachable(
  { waiting, records, sight }: Waiting,
  dependencies: StepFleetsDependencies,
): Promise<{
  readonly reachable: readonly ReachableCluster[];
  readonly offline: readonly ClusterId[];
  readonly untouchedClusters: number;
}> {
  const reachable: ReachableCluster[] = [];
  const offline: ClusterId[] = [];
  let untouchedClusters = 0;
  for (let from = 0; from < waiting.length && reachable.length < sight.roomFor;) {
    const chunk = waiting.slice(from, from + Math.max(READ_AT_ONCE, sight.roomFor));
    from += chunk.length;
    const found = await sideBySide(chunk, READ_AT_ONCE, (id) =>
      readEvidence(id, sight.key, dependencies),
    );
    for (const one of found) {
      const { evidence, registration } = one;
      const record = records.get(evidence.cluster);
      if (evidence.kind === 'offline') offline.push(evidence.cluster);
      else if (evidence.kind === 'untouched' || evidence.kind === 'gone') untouchedClusters += 1;
      else if (evidence.kind === 'heard' && registration !== undefined) {
        reachable.push(
          reachableOf(registration, { found: one, ...(record === undefined ? {} : { record }) }),
        );
      }
    }
  }
  return { reachable: reachable.slice(0, sight.roomFor), offline, untouchedClusters };
}
