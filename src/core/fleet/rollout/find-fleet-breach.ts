/**
 * Why a fleet halts, and on what grounds: one cluster may halt all others, but takes none back.
 * Each cluster's trial compares its nodes with peers in the same cluster, so likelihood ratios
 * multiply, and their mean is one e-value for the fleet. Clusters of fewer than ten nodes are
 * compared with each other (attribution/fleet-pool.ts), and count once.
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { HALT_AT, NO_EVIDENCE, describeE, meanRatio, type LogRatios } from '../../health/trial.ts';
import type { ClusterId } from '../../model/identifiers.ts';
import { describePool } from '../attribution/fleet-pool.ts';
import type { FleetBreach } from '../fleet-daemon-set.ts';
import { failedOfClass, type FailureClass } from './failure-class.ts';
import type { BreachGrounds, FleetBreachNote } from './fleet-record.ts';
import type { GivenCluster, ObservedPool, StageTally } from './tally-stage.ts';

/** Clusters that a breach names. */
const CLUSTERS_MAX = 16;
/** Silent clusters of a stage that are no accident, if they are more than half of those that were given it. */
const SILENT_MIN = 2;

export interface BreachFacts {
  readonly stage: string;
  readonly tally: StageTally;
  readonly given: readonly GivenCluster[];
  /** False of a stage that passed: all were well there for its soak, so who is silent by now is merely offline. */
  readonly isOpen: boolean;
  readonly failedClustersMax: number;
  readonly refusedClustersMax: number;
  /** True where no other cluster than one was given the release. */
  readonly isAlone: boolean;
  /** Clusters whose evidence was found before, and was not enough to lead back. */
  readonly shownBy: readonly ClusterId[];
  readonly onHalt: FleetBreach;
  /** Of the open stage: small clusters that are compared with each other. */
  readonly pool?: ObservedPool;
  /** A breach of this time was looked at and is overruled: what clusters show that were given it before is known; 0: none was. */
  readonly overruledAtMs: number;
  /** Since when nothing moved, where a deadline counts. */
  readonly stuckSinceMs?: number;
  readonly progressDeadlineMs?: number;
  readonly nowMs: number;
}

/** In the order in which a person wants them told: evidence on the release first. */
const CAUSES: readonly ((facts: BreachFacts) => FleetBreachNote | undefined)[] = [
  clustersFailed,
  clustersSilent,
  nodesFailed,
  clustersNotUpdated,
  deadline,
];

/** The breach; undefined: there is none. */
export function findFleetBreach(facts: BreachFacts): FleetBreachNote | undefined {
  for (const find of CAUSES) {
    const found = find(facts);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A breach in the making: who showed it, and who of these speaks against the release. */
interface Shown extends Pick<FleetBreachNote, 'cause' | 'message'> {
  readonly showed: readonly GivenCluster[];
  readonly witnesses: readonly GivenCluster[];
}

/** With its grounds, which its message says where they keep clusters from going back. */
function noteOf(
  { cause, message, showed, witnesses }: Shown,
  { isAlone, shownBy, onHalt, nowMs }: BreachFacts,
): FleetBreachNote {
  const all = new Set([...shownBy, ...idsOf(witnesses)]);
  const isEnough = all.size > 1 || (all.size === 1 && isAlone);
  const grounds = isEnough ? undefined : groundsOf(all);
  const why = onHalt === 'rollback' && grounds !== undefined ? whyNotBack(grounds, [...all]) : '';
  const clusters = [...new Set([...shownBy, ...idsOf(showed)])].slice(0, CLUSTERS_MAX);
  return { cause, atMs: nowMs, message: `${message}${why}`, clusters, ...defined({ grounds }) };
}

function groundsOf({ size }: ReadonlySet<ClusterId>): BreachGrounds {
  return size === 0 ? 'place' : 'one-cluster';
}

function whyNotBack(grounds: BreachGrounds, witnesses: readonly ClusterId[]): string {
  return grounds === 'place'
    ? '; that speaks of these clusters and not of the release, so no other cluster goes back'
    : `; only ${witnesses.join()} shows it, so no other cluster goes back before a second one does`;
}

/** Clusters of the stage that failed so, if they are more than it forgives, and what the first of them says. */
function failedBeyond(
  { tally }: BreachFacts,
  failureClass: FailureClass,
  clustersMax: number,
): { readonly failed: readonly GivenCluster[]; readonly first: string } | undefined {
  const failed = failedOfClass(tally.failed, failureClass);
  const [one] = failed;
  if (one === undefined || failed.length <= clustersMax) return undefined;
  const { cause = 'unknown', message = '' } = one.record.failure ?? {};
  return { failed, first: `${one.record.cluster}: ${cause}: ${message}` };
}

function clustersFailed(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, given, failedClustersMax } = facts;
  const beyond = failedBeyond(facts, 'release', failedClustersMax);
  if (beyond === undefined) return undefined;
  const { failed, first } = beyond;
  const message = `${String(failed.length)} of ${String(given.length)} clusters of stage ${stage} failed, ${String(failedClustersMax)} may; ${first}`;
  return noteOf({ cause: 'ClustersFailed', message, showed: failed, witnesses: failed }, facts);
}

function clustersNotUpdated(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, given, refusedClustersMax } = facts;
  const beyond = failedBeyond(facts, 'place', refusedClustersMax);
  if (beyond === undefined) return undefined;
  const { failed, first } = beyond;
  const message =
    `${String(failed.length)} of ${String(given.length)} clusters of stage ${stage} could not take it or did not keep it, ` +
    `${String(refusedClustersMax)} may; ${first}`;
  return noteOf({ cause: 'ClustersNotUpdated', message, showed: failed, witnesses: [] }, facts);
}

function clustersSilent(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, isOpen } = facts;
  if (!isOpen) return undefined;
  const given = givenSince(facts);
  const silent = given.filter(
    ({ record, verdict }) => verdict.kind === 'offline' && record.phase !== 'failed',
  );
  if (silent.length < SILENT_MIN || silent.length * 2 <= given.length) return undefined;
  const message = `${String(silent.length)} of ${String(given.length)} clusters of stage ${stage} fell silent after they were given it`;
  return noteOf({ cause: 'ClustersSilent', message, showed: silent, witnesses: silent }, facts);
}

/** Those that were given it after the breach that is overruled. */
function givenSince({ given, overruledAtMs }: BreachFacts): readonly GivenCluster[] {
  return given.filter(({ record }) => record.openedAtMs > overruledAtMs);
}

function nodesFailed(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, pool } = facts;
  const given = givenSince(facts);
  const value = pooledEvidence(given, pool);
  if (value < HALT_AT) return undefined;
  const showed = given.filter((cluster) => isShowing(cluster, pool));
  const message =
    `nodes of stage ${stage} went bad after their update and their peers did not: E = ${describeE(value)} over ${counted(showed.length, 'cluster')}, 20 halts` +
    `${pool === undefined ? '' : `; ${describePool(pool.pool)}`}`;
  return noteOf(
    { cause: 'NodesFailed', message, showed, witnesses: witnessesOf(showed, given, pool) },
    facts,
  );
}

/** All that show it, if they would halt it without the one that shows most as well; else that one: the evidence is its word. */
function witnessesOf(
  showed: readonly GivenCluster[],
  given: readonly GivenCluster[],
  pool: ObservedPool | undefined,
): readonly GivenCluster[] {
  const worth = ({ record, ratios }: GivenCluster): number =>
    pool?.members.has(record.cluster) === true ? 0 : meanRatio(ratios ?? NO_EVIDENCE);
  const [most] = showed.toSorted((left, right) => worth(right) - worth(left));
  if (most === undefined || worth(most) === 0) return showed;
  const others = given.filter((one) => one !== most);
  return pooledEvidence(others, pool) >= HALT_AT ? showed : [most];
}

/** Its own trial speaks against the release, or a node of it went bad among the small ones. */
function isShowing(
  { record: { cluster }, ratios }: GivenCluster,
  pool: ObservedPool | undefined,
): boolean {
  if (pool?.members.has(cluster) === true) return pool.pool.failed.includes(cluster);
  return ratios !== undefined && meanRatio(ratios) > 1;
}

/**
 * One e-value of all clusters; a cluster of the pool counts there alone, once.
 *
 * Of each cluster (1 + E) / 2 for each hazard ratio: half of the stake is bet on its trial, and half is kept. So it costs the sum
 * ln 2 at most, whatever its nodes do, and mutes no other. It is still an e-value: at each failure one factor changes, whose mean under
 * a harmless release is what it was.
 */
export function pooledEvidence(given: readonly GivenCluster[], pool?: ObservedPool): number {
  const sum = given
    .filter(({ record }) => pool?.members.has(record.cluster) !== true)
    .map(({ ratios = NO_EVIDENCE }) => ratios.map(halfKept))
    .reduce<LogRatios>(
      ([a, b, c, d], [e = 0, f = 0, g = 0, h = 0]) => [a + e, b + f, c + g, d + h],
      pool?.pool.logRatios ?? NO_EVIDENCE,
    );
  return meanRatio(sum);
}

/** ln((1 + e^x) / 2), for any x. */
function halfKept(x: number): number {
  return Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))) - Math.LN2;
}

function deadline(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, stuckSinceMs, progressDeadlineMs, given, nowMs } = facts;
  if (stuckSinceMs === undefined || progressDeadlineMs === undefined) return undefined;
  if (nowMs - stuckSinceMs < progressDeadlineMs) return undefined;
  const stuck = given.filter(({ record }) => record.phase !== 'well');
  const message = `stage ${stage} got no further for ${counted(Math.round((nowMs - stuckSinceMs) / 60_000), 'minute')}`;
  // A cluster that is silent, or whose view is not whole, says nothing of the release.
  const witnesses = stuck.filter(({ verdict }) => verdict.kind === 'rolling');
  return noteOf({ cause: 'ProgressDeadlineExceeded', message, showed: stuck, witnesses }, facts);
}

function idsOf(clusters: readonly GivenCluster[]): readonly ClusterId[] {
  return clusters.map(({ record }) => record.cluster);
}
