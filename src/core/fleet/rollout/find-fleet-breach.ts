/**
 * What halts a fleet: more failed clusters than forgiven, most of a stage fallen silent, nodes that went bad across clusters, no progress
 * (issue 18, build item 4; facts 4 of rollouts and fleets).
 *
 * Evidence on nodes is added up over clusters: each cluster's trial compares its updated nodes with peers in the same cluster, so their
 * likelihood ratios multiply, and the mean is one e-value for the fleet. It halts where no single cluster has enough. Clusters of fewer
 * than ten nodes have few peers, or none: they are compared with each other instead (attribution/fleet-pool.ts), and count once.
 */
import { counted } from '@rollcall/base/counted.ts';
import { HALT_AT, meanRatio, NO_EVIDENCE } from '../../evidence/e-value.ts';
import type { LogRatios } from '../../evidence/e-value.ts';
import type { ClusterId } from '../../model/identifiers.ts';
import { describePool } from '../attribution/describe-pool.ts';
import { describeCommonLabels } from './common-labels.ts';
import type { FleetBreachNote } from './fleet-record.ts';
import type { GivenCluster, PoolSeen, StageTally } from './tally-stage.ts';

/** Clusters that a breach names. */
const CLUSTERS_MAX = 16;
/** Silent clusters of a stage that are no accident, if they are more than half of those that were given it. */
const SILENT_MIN = 2;

/** What a breach is looked for in. */
export interface BreachFacts {
  readonly stage: string;
  readonly tally: StageTally;
  readonly given: readonly GivenCluster[];
  /** False of a stage that passed: all were well there for its soak, so who is silent by now is merely offline. */
  readonly isOpen: boolean;
  readonly failedClustersMax: number;
  /** Of the open stage: small clusters that are compared with each other. */
  readonly pool?: PoolSeen;
  /** A breach of this time was looked at and is overruled: what clusters show that were given it before is known; 0: none was. */
  readonly overruledAtMs: number;
  /** Since when nothing moved, where a deadline counts. */
  readonly stuckSinceMs?: number;
  readonly progressDeadlineMs?: number;
  readonly nowMs: number;
}

/** The breach; undefined: there is none. */
export function findFleetBreach(facts: BreachFacts): FleetBreachNote | undefined {
  return clustersFailed(facts) ?? clustersSilent(facts) ?? nodesFailed(facts) ?? deadline(facts);
}

function clustersFailed(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, tally, given, failedClustersMax, nowMs } = facts;
  const { failed } = tally;
  const [first] = failed;
  if (first === undefined || failed.length <= failedClustersMax) return undefined;
  const { cause = 'unknown', message = '' } = first.record.failure ?? {};
  const common = describeCommonLabels(
    withFacts(given, facts.pool),
    ({ record }) => record.phase === 'failed',
  );
  return {
    cause: 'ClustersFailed',
    atMs: nowMs,
    message:
      `${String(failed.length)} of ${String(given.length)} clusters of stage ${stage} failed, ${String(failedClustersMax)} may; ` +
      `${first.record.cluster}: ${cause}: ${message}${common === undefined ? '' : `; ${common}`}`,
    clusters: idsOf(failed),
  };
}

function clustersSilent(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, isOpen, nowMs } = facts;
  if (!isOpen) return undefined;
  const given = givenSince(facts);
  const silent = given.filter(
    ({ record, verdict }) => verdict.kind === 'offline' && record.phase !== 'failed',
  );
  if (silent.length < SILENT_MIN || silent.length * 2 <= given.length) return undefined;
  return {
    cause: 'ClustersSilent',
    atMs: nowMs,
    message: `${String(silent.length)} of ${String(given.length)} clusters of stage ${stage} fell silent after they were given it`,
    clusters: idsOf(silent),
  };
}

/** Those that were given it after the breach that is overruled. */
function givenSince({ given, overruledAtMs }: BreachFacts): readonly GivenCluster[] {
  return given.filter(({ record }) => record.openedAtMs > overruledAtMs);
}

function nodesFailed(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, pool, nowMs } = facts;
  const given = givenSince(facts);
  const value = pooledEvidence(given, pool);
  if (value < HALT_AT) return undefined;
  const showed = given.filter((cluster) => isShowing(cluster, pool));
  const shownBy = new Set(showed.map(({ record }) => record.cluster));
  const common = describeCommonLabels(withFacts(given, pool), ({ record }) =>
    shownBy.has(record.cluster),
  );
  return {
    cause: 'NodesFailed',
    atMs: nowMs,
    message:
      `nodes of stage ${stage} went bad after their update and their peers did not: E = ${value.toFixed(1)} over ${counted(showed.length, 'cluster')}, 20 halts` +
      `${pool === undefined ? '' : `; ${describePool(pool.pool)}`}${common === undefined ? '' : `; ${common}`}`,
    clusters: idsOf(showed),
  };
}

/** Its own trial speaks against the release, or a node of it went bad among the small ones. */
function isShowing(
  { record: { cluster }, ratios }: GivenCluster,
  pool: PoolSeen | undefined,
): boolean {
  if (pool?.members.has(cluster) === true) return pool.pool.failed.includes(cluster);
  return ratios !== undefined && meanRatio(ratios) > 1;
}

/** With what their nodes have in common, as if it were labels of theirs. */
function withFacts(
  given: readonly GivenCluster[],
  pool: PoolSeen | undefined,
): readonly GivenCluster[] {
  return given.map((one) => ({
    ...one,
    labels: { ...pool?.facts.get(one.record.cluster), ...one.labels },
  }));
}

/** One e-value of all clusters; whoever takes part in the pool counts there alone. */
export function pooledEvidence(given: readonly GivenCluster[], pool?: PoolSeen): number {
  const sum = given
    .filter(({ record }) => pool?.members.has(record.cluster) !== true)
    .reduce<LogRatios>(
      ([a, b, c, d], { ratios = NO_EVIDENCE }) => [
        a + ratios[0],
        b + ratios[1],
        c + ratios[2],
        d + ratios[3],
      ],
      pool?.pool.logRatios ?? NO_EVIDENCE,
    );
  return meanRatio(sum);
}

function deadline(facts: BreachFacts): FleetBreachNote | undefined {
  const { stage, stuckSinceMs, progressDeadlineMs, given, nowMs } = facts;
  if (stuckSinceMs === undefined || progressDeadlineMs === undefined) return undefined;
  if (nowMs - stuckSinceMs < progressDeadlineMs) return undefined;
  const stuck = given.filter(({ record }) => record.phase !== 'well');
  return {
    cause: 'ProgressDeadlineExceeded',
    atMs: nowMs,
    message: `stage ${stage} got no further for ${counted(Math.round((nowMs - stuckSinceMs) / 60_000), 'minute')}`,
    clusters: idsOf(stuck),
  };
}

function idsOf(clusters: readonly GivenCluster[]): readonly ClusterId[] {
  return clusters.slice(0, CLUSTERS_MAX).map(({ record }) => record.cluster);
}
