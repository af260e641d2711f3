/**
 * Gathers what `rollcall status` and the tables of `rollcall get` are made of: registrations, META, the DaemonSets of each cluster, fleets.
 *
 * Reads tables alone, side by side, so that they travel in batches; nothing is sent or written. Reasons cost the slices of a
 * DaemonSet and the nodes of its cluster, so they are asked of the first twenty that lack pods or are being rolled out (ADR 0082).
 */
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type {
  FleetFacts,
  MissingReason,
  FleetRolloutFacts,
} from '../../core/status/health/health-facts.ts';
import type { LateNodes } from '../../core/start-up/start-up-words.ts';
import { NO_FREEZE, type Freeze } from '../../core/may-act/freeze.ts';
import { hasLabels, listEveryCluster } from '../clusters/read-registry.ts';
import { findLateNodes } from '../why/late-nodes.ts';
import { outagesOfCluster, outagesOfStack, readStanding, outagesOfBasis } from '../why/standing.ts';
import { readCluster, withStackFreeze } from './cluster-summary.ts';
import type { ClusterSummary, ReadCluster, UnreadableCluster } from './cluster-summary.ts';
import type { Explaining, FleetFilter, FleetLook, FleetSources } from './fleet-look.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import { factsOf, missedIn, readDaemonSets, type ReadSet } from './read-daemon-sets.ts';
import { toldObject } from '../../core/model/view-items.ts';
import { countsOf } from '../../core/rollout/pod-counts.ts';
import { groupReasons } from '../../core/status/reason-groups.ts';
import { missingPodsOf } from '../../core/status/health/health-of-pods.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import { explainRollout, type Explained } from '../why/explain.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import { listEveryFleet, listEveryRecord } from '../fleet/find-fleet.ts';
import { fleetStatusOf } from '../fleet/rollout/fleet-status.ts';
import { nextOfFleet } from '../rollout/next-of-rollout.ts';

/** One cluster, with what tables show beside its facts. */
export type GatheredCluster = ClusterSummary &
  Pick<FleetFacts['clusters'][number], 'daemonSets' | 'late'>;

/** All of it. */
export interface GatheredFleet extends FleetFacts {
  readonly clusters: readonly GatheredCluster[];
  readonly unreadable: readonly UnreadableCluster[];
  readonly freeze: Freeze;
  /** Ids of all clusters, also of those that the filter leaves out. */
  readonly ids: readonly ClusterId[];
}

/** Clusters that are read at the same time. */
const CLUSTERS_AT_ONCE = 32;

/** What was read of the fleet, before anything is explained. */
export interface ReadFleet {
  readonly look: FleetLook;
  readonly inForce: Freeze | 'unreadable';
  readonly ids: readonly ClusterId[];
  readonly found: readonly FoundCluster[];
  readonly unreadable: readonly UnreadableCluster[];
  readonly fleets: FleetFacts['fleets'];
}

/** Reads registrations, META and what is stored of DaemonSets and fleets. Rejects when a table fails. */
export async function readFleet(
  filter: FleetFilter,
  sources: FleetSources & Explaining,
): Promise<ReadFleet> {
  const nowMs = sources.clock.nowMs();
  const [ids, standing, frozen] = await Promise.all([
    listEveryCluster(sources.registry),
    readStanding(sources),
    orUnreadable(() => sources.freezes.readFreeze()),
  ]);
  const freeze = frozen.kind === 'read' ? frozen.value : NO_FREEZE;
  const inForce = frozen.kind === 'read' ? freeze : frozen.kind;
  const look: FleetLook = { ...sources, filter, standing, freeze, nowMs };
  const asked = ids.filter((id) => filter.clusters?.includes(id) !== false);
  const [read, fleets] = await Promise.all([
    sideBySide(asked, CLUSTERS_AT_ONCE, (id) => gatherCluster(id, look)),
    readFleets(look, inForce),
  ]);
  const found = read.flatMap((one) => (one.kind === 'found' ? [one] : []));
  const unreadable = read.flatMap((one) => (one.kind === 'unreadable' ? [one.cluster] : []));
  return { look, inForce, ids, found, unreadable, fleets };
}

/** Tells of it, with the reasons of the DaemonSets that lack most. Rejects when a table fails. */
export async function factsOfFleet(read: ReadFleet): Promise<GatheredFleet> {
  const { look, inForce, ids, found, unreadable, fleets } = read;
  const { filter, freeze, standing, nowMs } = look;
  const explained = await explainFirst(
    found.flatMap(({ sets }) => sets),
    look,
  );
  return {
    outages: outagesOfStack(standing, { freeze: inForce, nowMs }),
    frozen: withinNamespace(freeze.daemonSets, filter),
    clusters: found.map(({ summary, sets, late }) => ({
      ...{ ...summary, ...defined({ late }) },
      daemonSets: sets.map((set) => factsOf(set, explained.get(set), nowMs)),
    })),
    ...{ unreadable, fleets, freeze, ids },
  };
}

type Gathered =
  | { readonly kind: 'left-out' }
  | { readonly kind: 'unreadable'; readonly cluster: UnreadableCluster }
  | ({ readonly kind: 'found' } & FoundCluster);

export interface FoundCluster extends ReadCluster {
  readonly sets: readonly ReadSet[];
  /** Nodes that have their start-up taint for too long. */
  readonly late?: LateNodes;
}

async function gatherCluster(id: ClusterId, look: FleetLook): Promise<Gathered> {
  const { filter, freeze, nowMs } = look;
  const labels = filter.labels ?? [];
  const read = await readCluster(id, look);
  // It may have these labels.
  if ('problem' in read) return { kind: 'unreadable', cluster: read };
  const { registration, meta, summary } = read;
  if (!hasLabels(registration, labels)) {
    return { kind: 'left-out' };
  }
  const sets = meta === undefined ? [] : await readDaemonSets({ registration, meta }, look);
  const missed = sets.flatMap((set) => missedIn(set, nowMs) ?? []);
  const outages = outagesOfCluster(registration, { meta, nowMs, missed });
  const told = withStackFreeze({ ...summary, outages }, freeze);
  const late = await lateIn(read, look);
  return { kind: 'found', registration, meta, summary: told, sets, ...defined({ late }) };
}

/** Nodes are in no namespace: a question about one leaves them out. */
async function lateIn(
  { registration, meta }: ReadCluster,
  { filter, freeze, view, cache, nowMs }: FleetLook,
): Promise<LateNodes | undefined> {
  if (meta === undefined || filter.namespace !== undefined) return undefined;
  const frozen = freeze.all && ({ scope: 'stack', note: freeze.all } as const);
  return findLateNodes({ registration, meta, ...defined({ frozen }) }, { view, cache, nowMs });
}

function withinNamespace(
  daemonSets: Freeze['daemonSets'],
  { namespace }: FleetFilter,
): Freeze['daemonSets'] {
  if (namespace === undefined) return daemonSets;
  const own = Object.entries(daemonSets).filter(([key]) => key.startsWith(`${namespace}/`));
  return Object.fromEntries(own);
}

/** DaemonSets that are explained; of the others `rollcall why` tells. */
const EXPLAINED_MAX = 20;
const AT_ONCE = 8;

/**
 * Why nodes lack a pod, of the DaemonSets that lack most: a plan of now for each, which reads slices (ADR 0082). Those that are being
 * rolled out come after them: only a plan says what their next step waits for. One of which nothing can be told is missing. Rejects
 * when a table fails.
 */
async function explainFirst(
  sets: readonly ReadSet[],
  look: FleetLook,
): Promise<ReadonlyMap<ReadSet, Explained & { readonly reasons: readonly MissingReason[] }>> {
  const lacking = sets
    .filter((set) => missingIn(set) > 0)
    .sort((left, right) => missingIn(right) - missingIn(left));
  const rolling = sets.filter((set) => missingIn(set) === 0 && isRolling(set));
  const first = [...lacking, ...rolling].slice(0, EXPLAINED_MAX);
  const explained = await sideBySide(first, AT_ONCE, async (set) => {
    if (set.kind !== 'read') return [];
    const { stored } = set;
    const outages = outagesOfBasis(stored, look);
    const found = await explainRollout(stored, { ...look, outages });
    if (found === undefined) return [];
    return [[set, { ...found, reasons: reasonsOf(found.plan.verdicts()) }] as const];
  });
  return new Map(explained.flat());
}

function missingIn(set: ReadSet): number {
  if (set.kind !== 'read') return 0;
  const counts = countsOf(toldObject(set.stored.daemonSet));
  return counts === undefined ? 0 : missingPodsOf({ counts });
}

function isRolling(set: ReadSet): boolean {
  if (set.kind !== 'read' || set.stored.registration.mode === 'observe') return false;
  const { rollout } = set.stored.state ?? {};
  return rollout !== undefined && rollout.step.kind !== 'done' && rollout.breach === undefined;
}

function reasonsOf(verdicts: readonly Verdict[]): readonly MissingReason[] {
  return groupReasons(verdicts).flatMap(({ code, title, kind, nodes }) =>
    kind === 'serving' || kind === 'not-wanted' ? [] : [{ code, title, kind, nodes: nodes.length }],
  );
}

/** How the rollouts of FleetDaemonSets stand, by heads and records alone, in the order of their names. Rejects when a table fails. */
async function readFleets(
  { fleets, rollouts, filter, standing, nowMs }: FleetLook,
  freeze: Freeze | 'unreadable',
): Promise<readonly FleetRolloutFacts[]> {
  const [heads, { records, unreadable }] = await Promise.all([
    listEveryFleet(fleets),
    listEveryRecord(rollouts),
  ]);
  const lost = new Set(unreadable.map(formatFleetKey));
  const { namespace: only } = filter;
  const wanted = heads.filter(({ namespace }) => (only ?? namespace) === namespace);
  return wanted.map((head) => {
    const key = formatFleetKey(head);
    const { namespace, name, generation } = head;
    if (lost.has(key)) {
      const summary = 'the record of its rollout cannot be read by this release';
      const told = { phase: 'Progressing', summary, next: [], isUnreadable: true } as const;
      return { namespace, name, generation, ...told };
    }
    const kept = records.get(key);
    const record = kept?.uid === head.uid ? kept : undefined;
    const found = { head, ...defined({ record }) };
    const status = fleetStatusOf(found, { standing, freeze, nowMs });
    const { phase, summary, staged } = status;
    return {
      ...{ namespace, name, generation, phase, summary },
      ...defined({ gate: staged?.gate }),
      next: nextOfFleet(status),
    };
  });
}
