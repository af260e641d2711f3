/**
 * Every cluster of a fleet's rollout with what its record says, once, the bad ones first; and its
 * stages, counted by these clusters.
 *
 * A cluster at zero is never hidden in a sum: each is told with the nodes that run the release, of
 * those that should. Costs a read for each page of members and for a hundred records; nothing of it
 * is needed for a decision. For shown clusters that are not well, an operator may ask why with
 * two reads more each.
 */
import { counted } from '@rollcall/base/counted.ts';
import { compareNatural } from '@rollcall/base/compare-text.ts';
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { OFFLINE_AFTER_MS } from '../../../core/fleet/cluster-facts.ts';
import type {
  ClusterPhase,
  FleetClusterRecord,
  FleetRecord,
} from '../../../core/fleet/rollout/fleet-record.ts';
import { backAtOf } from '../../../core/fleet/rollout/way-back.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { FleetRolloutStore } from '../../../ports/stores/fleet-rollout-store.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import type { ViewReader } from '../../../ports/stores/view-store.ts';
import { pagesOf } from '../member-lists.ts';
import type { ShownStage } from './fleet-status.ts';

/** How a cluster stands to the release that is rolled out. */
export interface FleetClusterLine {
  readonly cluster: ClusterId;
  /** Name of its stage; `ring`: of those that come back. */
  readonly place: string;
  /** `waiting`: it was not given this release yet. */
  readonly phase: ClusterPhase | 'waiting';
  /** Nodes that run it, of those that should, as seen last; absent: not known. */
  readonly nodes?: FleetClusterRecord['nodes'];
  /** Given it on its first nodes alone (`nodes` of the first stage): the others follow in the next stage. */
  readonly isPartial?: true;
  /** When it was given the release; absent: it was not. */
  readonly openedAtMs?: number;
  readonly failure?: FleetClusterRecord['failure'];
  /** More on why it is not well; only for clusters that are shown. */
  readonly note?: string;
}

export interface ListSources {
  readonly rollouts: Pick<FleetRolloutStore, 'readMembers' | 'readClusterRecords'>;
  readonly registry: Pick<RegistryStore, 'readCluster'>;
  readonly view: Pick<ViewReader, 'readMeta'>;
}

const PAGES_AT_ONCE = 4;
const NOTES_AT_ONCE = 16;

/** All clusters of all stages and of the ring, the worst first. Rejects when a table fails. */
export async function listClusters(
  record: FleetRecord,
  { rollouts }: ListSources,
): Promise<readonly FleetClusterLine[]> {
  const pages = [...record.stages, { name: 'ring', members: record.ring }].flatMap(
    ({ name, members }) => pagesOf(members).map((page) => ({ name, members, page })),
  );
  const lines = await sideBySide(pages, PAGES_AT_ONCE, async ({ members, name, page }) => {
    const ids = await rollouts.readMembers(record, members, page);
    const records = await rollouts.readClusterRecords(record, ids);
    return ids.map((cluster) => ({
      ...{ cluster, place: name },
      ...standingOf(records.get(cluster), record),
    }));
  });
  return oncePerCluster(lines.flat(), record).sort(worstFirst);
}

/** A cluster of a first stage with `nodes` is a member of the next stage too: the newest one that opened tells of it. */
function oncePerCluster(
  lines: readonly FleetClusterLine[],
  { stages, stage }: FleetRecord,
): FleetClusterLine[] {
  const opened = stages.slice(0, stage + 1).map(({ name }) => name);
  const told = new Map<ClusterId, FleetClusterLine>();
  for (const line of lines) {
    if (!told.has(line.cluster) || opened.includes(line.place)) told.set(line.cluster, line);
  }
  return [...told.values()];
}

function standingOf(
  known: FleetClusterRecord | undefined,
  record: FleetRecord,
): Omit<FleetClusterLine, 'cluster' | 'place'> {
  // One that was sent back has what was good before, and is told as such.
  const isBack = known !== undefined && known.openedAtMs >= record.startedAtMs;
  const isOfThis =
    known?.contentHash === record.release.contentHash ||
    (isBack && known.contentHash === backAtOf(record)?.contentHash);
  if (known === undefined || !isOfThis) return { phase: 'waiting' };
  const { phase, nodes, isPartial, openedAtMs, failure } = known;
  const isFirstNodes = isPartial ? (true as const) : undefined;
  return { phase, openedAtMs, ...defined({ nodes, isPartial: isFirstNodes, failure }) };
}

/** Failed, then at zero, then on their way, then waiting, then well; by name among equals. */
function rankOf({ phase, nodes }: FleetClusterLine): number {
  if (phase === 'failed') return 0;
  if (isAtZero({ phase, nodes })) return 1;
  if (phase === 'waiting') return 3;
  return phase === 'well' || phase === 'returned' ? 4 : 2;
}

/** Given the release, and no node runs it: what a sum over clusters would hide. */
export function isAtZero({ phase, nodes }: Pick<FleetClusterLine, 'phase' | 'nodes'>): boolean {
  return phase !== 'waiting' && nodes !== undefined && nodes.updated === 0 && nodes.desired > 0;
}

function worstFirst(left: FleetClusterLine, right: FleetClusterLine): number {
  return rankOf(left) - rankOf(right) || compareNatural(left.cluster, right.cluster);
}

/** The same lines, with why those that are not well are not: silent, frozen, not ours to change. */
export async function withNotes(
  lines: readonly FleetClusterLine[],
  nowMs: number,
  sources: ListSources,
): Promise<readonly FleetClusterLine[]> {
  return sideBySide(lines, NOTES_AT_ONCE, async (line) => {
    const note = line.phase === 'well' ? undefined : await noteOf(line.cluster, nowMs, sources);
    return note === undefined ? line : { ...line, note };
  });
}

async function noteOf(
  cluster: ClusterId,
  nowMs: number,
  { registry, view }: ListSources,
): Promise<string | undefined> {
  const registration = await registry.readCluster(cluster);
  if (registration === undefined) return 'it is not registered any more';
  const { clusterUid, isFrozen, mode, rival } = registration;
  if (isFrozen) return 'the cluster is frozen';
  if (mode === 'observe') return 'mode observe: Rollcall only looks';
  if (rival !== undefined) return `another controller is at work: ${rival.evidence}`;
  const meta = await view.readMeta(clusterUid);
  if (meta === undefined) return 'offline: nothing was ever heard of it';
  const silentForMs = nowMs - meta.lastSentAtMs;
  if (silentForMs <= OFFLINE_AFTER_MS) return meta.isComplete ? undefined : notWhole(meta);
  return `offline: not heard for ${counted(Math.round(silentForMs / 60_000), 'minute')}`;
}

/** It is looked at again with each step, for as long as it stays so: nothing that it shows counts, neither as good nor as bad. */
function notWhole({ incompleteReason }: ClusterMeta): string {
  const why = incompleteReason === undefined ? '' : ` (${incompleteReason})`;
  return `its view is not whole${why}, so it holds its stage; rollcall cluster doctor says more`;
}

/** A stage, counted. */
export interface StageTally extends ShownStage {
  /** Where its clusters are told by now, and counted; absent: here. */
  readonly goesOnIn?: string;
  readonly failed: number;
  readonly well: number;
  /** They change: to the release, or back from it. */
  readonly rolling: number;
  readonly waiting: number;
  /** Nodes that run it, of those that should; absent: not known of any. */
  readonly nodes?: FleetClusterRecord['nodes'];
}

/** The stages of clusters that are told once each. */
export function tallyStages(
  stages: readonly ShownStage[],
  lines: readonly FleetClusterLine[],
): readonly StageTally[] {
  return stages.map((stage, index) => {
    const own = lines.filter(({ place }) => place === stage.name);
    const countOf = (...of: readonly FleetClusterLine['phase'][]): number =>
      own.filter(({ phase }) => of.includes(phase)).length;
    const isElsewhere = own.length === 0 && stage.clusters > 0 && stage.state === 'passed';
    return {
      ...stage,
      clusters: own.length,
      ...defined({
        goesOnIn: isElsewhere ? stages[index + 1]?.name : undefined,
        nodes: sumOf(own),
      }),
      failed: countOf('failed'),
      well: countOf('well'),
      rolling: countOf('applying', 'rolling', 'returning'),
      waiting: countOf('waiting'),
    };
  });
}

function sumOf(lines: readonly FleetClusterLine[]): FleetClusterRecord['nodes'] {
  const known = lines.flatMap(({ nodes }) => nodes ?? []);
  if (known.length === 0) return undefined;
  const sum = (of: 'updated' | 'desired'): number =>
    known.reduce((total, one) => total + one[of], 0);
  return { updated: sum('updated'), desired: sum('desired') };
}
