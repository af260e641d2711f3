/**
 * Counts the clusters of a stage, each in one place, and says what of it is evidence (issue 18).
 *
 * A cluster at zero is never hidden in a sum: each is judged for itself, and a failure counts whatever the others do. Clusters that are
 * offline or not ours to change neither block nor count. A cluster that was given the release and fell silent is offline as well:
 * it is no success, and where most do so the stage is a breach (find-fleet-breach.ts).
 */
import type { LogRatios } from '../../health/trial.ts';
import type { ClusterId } from '../../model/identifiers.ts';
import type { FleetPool } from '../attribution/fleet-pool.ts';
import type { ClusterVerdict } from './judge-cluster.ts';
import type { ClusterPhase, FleetClusterRecord, FleetCounts } from './fleet-record.ts';

/** A cluster of a stage that was given the release, judged. */
export interface GivenCluster {
  /** As the verdict left it. */
  readonly record: FleetClusterRecord;
  readonly verdict: Pick<ClusterVerdict, 'kind'>;
  /** Of the trial of its rollout: what its nodes showed against their peers. Absent: there is none. */
  readonly ratios?: LogRatios;
}

/** A look at a cluster, kept for the next steps: one step looks at a part of thousands. */
export interface KeptLook extends Pick<GivenCluster, 'ratios'> {
  readonly cluster: ClusterId;
  readonly atMs: number;
  readonly kind: ClusterVerdict['kind'];
  /** That its record had then; absent: it was not given the release. */
  readonly phase?: ClusterPhase;
}

/** Small clusters of the open stage, compared with each other. */
export interface ObservedPool {
  readonly pool: FleetPool;
  /** Those that take part: what their own trials show counts no more. */
  readonly members: ReadonlySet<ClusterId>;
}

/** The looks at a stage's clusters. */
export interface ObservedStage {
  readonly given: readonly GivenCluster[];
  /** Of these not looked at lately; absent: none. */
  readonly unseenClusters?: number;
  /** Not given it yet, and not known to be out of reach. */
  readonly waitingClusters: number;
  readonly offlineClusters: number;
  readonly untouchedClusters: number;
}

export interface StageTally {
  readonly counts: Omit<FleetCounts, 'returning'>;
  /** Well, with a node that runs it. */
  readonly provenClusters: number;
  /** Given it, and having a node to run it: those that could be evidence. */
  readonly triedClusters: number;
  /** Well when they were seen last, and not to be read at this moment: they let no gate open, and no soak begins anew for them. */
  readonly unclearClusters: number;
  readonly failed: readonly GivenCluster[];
}

type Place = Exclude<keyof FleetCounts, 'returning'>;

/** Counts them. Failures up to `overruledAtMs` were looked at by an operator: they neither block nor count. */
export function tallyStage(seen: ObservedStage, overruledAtMs: number): StageTally {
  const counts: Record<Place, number> = {
    waiting: seen.waitingClusters,
    rolling: 0,
    well: 0,
    failed: 0,
    offline: seen.offlineClusters,
    untouched: seen.untouchedClusters,
  };
  for (const cluster of seen.given) counts[placeOf(cluster)] += 1;
  const standing = seen.given.filter(({ record }) => record.phase !== 'failed');
  const countOf = (kind: ClusterVerdict['kind']): number =>
    standing.filter(({ verdict }) => verdict.kind === kind).length;
  return {
    counts,
    provenClusters: countOf('well'),
    triedClusters: seen.given.length - countOf('empty'),
    unclearClusters: standing.filter(isUnclearAndWell).length,
    failed: seen.given.filter(
      ({ record }) => record.phase === 'failed' && (record.failure?.atMs ?? 0) > overruledAtMs,
    ),
  };
}

function placeOf(cluster: GivenCluster): Place {
  const { record, verdict } = cluster;
  if (record.phase === 'failed') return 'failed';
  if (isUnclearAndWell(cluster)) return 'well';
  return PLACES[verdict.kind];
}

const PLACES: Readonly<Record<ClusterVerdict['kind'], Place>> = {
  gone: 'untouched',
  untouched: 'untouched',
  offline: 'offline',
  rebuilt: 'waiting',
  awaited: 'rolling',
  unclear: 'rolling',
  rolling: 'rolling',
  reverted: 'rolling',
  failed: 'rolling',
  well: 'well',
  empty: 'well',
};

function isUnclearAndWell({ record, verdict }: GivenCluster): boolean {
  return verdict.kind === 'unclear' && record.phase === 'well';
}
