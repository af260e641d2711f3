/**
 * What halts a fleet: more failed clusters than forgiven, most of a stage fallen silent, nodes that went bad across clusters, no progress
 * (issue 18, build item 4; facts 4 of rollouts and fleets).
 *
 * Evidence on nodes is added up over clusters: each cluster's trial compares its updated nodes with peers in the same cluster, so their
 * likelihood ratios multiply, and the mean is one e-value for the fleet. It halts where no single cluster has enough.
 */
import { HALT_AT, meanRatio, NO_EVIDENCE } from '../../evidence/e-value.ts';
import type { LogRatios } from '../../evidence/e-value.ts';
import type { ClusterId } from '../../model/identifiers.ts';
import { describeCommonLabels } from './common-labels.ts';
import type { FleetBreachNote } from './fleet-record.ts';
import type { GivenCluster, StageTally } from './tally-stage.ts';

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
  const common = describeCommonLabels(given);
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
  const { stage, nowMs } = facts;
  const given = givenSince(facts);
  const value = pooledEvidence(given);
  if (value < HALT_AT) return undefined;
  const showed = given.filter(({ ratios }) => ratios !== undefined && meanRatio(ratios) > 1);
  return {
    cause: 'NodesFailed',
    atMs: nowMs,
    message: `nodes of stage ${stage} went bad after their update and their peers did not: E = ${value.toFixed(1)} over ${String(showed.length)} clusters, 20 halts`,
    clusters: idsOf(showed),
  };
}

/** One e-value of all clusters. */
export function pooledEvidence(given: readonly GivenCluster[]): number {
  const sum = given.reduce<LogRatios>(
    ([a, b, c, d], { ratios = NO_EVIDENCE }) => [
      a + ratios[0],
      b + ratios[1],
      c + ratios[2],
      d + ratios[3],
    ],
    NO_EVIDENCE,
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
    message: `stage ${stage} got no further for ${String(Math.round((nowMs - stuckSinceMs) / 60_000))} minutes`,
    clusters: idsOf(stuck),
  };
}

function idsOf(clusters: readonly GivenCluster[]): readonly ClusterId[] {
  return clusters.slice(0, CLUSTERS_MAX).map(({ record }) => record.cluster);
}
