/**
 * Records of the rollouts of fleets for tests: three stages of which the first is open, unless told otherwise.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { FleetManifest } from '../../src/core/fleet/fleet-daemon-set.ts';
import { fleetRenderer } from '../../src/core/fleet/render-fleet.ts';
import type { HeardCluster, ClusterVerdict } from '../../src/core/fleet/rollout/judge-cluster.ts';
import type { ClusterFailureCause } from '../../src/core/fleet/rollout/failure-class.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  FleetRelease,
  GoodFleetRelease,
} from '../../src/core/fleet/rollout/fleet-record.ts';
import type { GivenCluster, ObservedStage } from '../../src/core/fleet/rollout/tally-stage.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../src/core/model/rollout-record.ts';
import { NOW_MS, fleetOf, liveOf } from './fleet-samples.ts';
import { recordOf as rolloutRecordOf } from './rollout-records.ts';

/** When stages and clusters of this file began. */
export const BEGAN_MS = NOW_MS - 600_000;

/** A release by its content. */
export function releaseOf(contentHash: string, generation = 1): FleetRelease {
  return {
    generation,
    documentId: `document-${String(generation)}`,
    appliedAtMs: BEGAN_MS,
    appliedBy: 'test',
    contentHash,
  };
}

/** A release that is good. */
export function goodOf(contentHash: string, generation = 1): GoodFleetRelease {
  const goodAtMs = BEGAN_MS - 1000;
  return { ...releaseOf(contentHash, generation), id: contentHash, goodAtMs, isBaseline: false };
}

function dealt(name: string, count: number): FleetRecord['stages'][number] {
  return { name, members: { id: `list-${name}`, count }, namesNobody: false };
}

/** A fleet whose release `new` is on its way, after `old`, which is good. */
export function fleetRecordOf(changes: Partial<FleetRecord> = {}): FleetRecord {
  return {
    namespace: 'monitoring',
    name: 'agent',
    uid: 'fleet-1',
    version: 3,
    release: releaseOf('new', 2),
    startedAtMs: BEGAN_MS,
    stage: 0,
    stageOpenedAtMs: BEGAN_MS,
    progressedAtMs: BEGAN_MS,
    stages: [dealt('canary', 1), dealt('early', 4), dealt('rest', 20)],
    ring: { id: '', count: 0 },
    registryRevision: 1,
    dealtAtMs: BEGAN_MS,
    untouchedClusters: 0,
    ringDueAtMs: BEGAN_MS,
    driftDueAtMs: 0,
    good: [goodOf('old')],
    refused: [],
    orders: {},
    untold: [],
    gate: { kind: 'updating' },
    counts: { waiting: 0, rolling: 0, well: 0, failed: 0, offline: 0, untouched: 0, returning: 0 },
    dueAtMs: NOW_MS,
    ...changes,
  };
}

/** Another one, of which nothing was good before; its stages are first, early and rest. */
export function fleetRecord(changes: Partial<FleetRecord> = {}): FleetRecord {
  return fleetRecordOf({
    uid: 'uid-1',
    release: { ...releaseOf('content', 2), appliedAtMs: 1000, appliedBy: 'somebody' },
    startedAtMs: 1000,
    stageOpenedAtMs: 2000,
    progressedAtMs: 2000,
    stages: [dealt('first', 1), dealt('early', 3), dealt('rest', 8)],
    dealtAtMs: 1000,
    ringDueAtMs: 0,
    good: [],
    counts: { waiting: 0, rolling: 1, well: 0, failed: 0, offline: 0, untouched: 0, returning: 0 },
    dueAtMs: 7000,
    ...changes,
  });
}

/** A cluster that was given `new` and rolls it. */
export function clusterRecordOf(
  id: string,
  changes: Partial<FleetClusterRecord> = {},
): FleetClusterRecord {
  return {
    cluster: clusterId(id),
    clusterUid: clusterUid(`uid-of-${id}`),
    version: 1,
    place: 0,
    generation: 2,
    contentHash: 'new',
    hash: 'template',
    openedAtMs: BEGAN_MS,
    appliedGeneration: 4,
    isPartial: false,
    phase: 'rolling',
    attempts: 0,
    dueAtMs: BEGAN_MS,
    ...changes,
  };
}

/** A cluster of a stage, as it was judged. */
export function givenOf(
  id: string,
  verdict: ClusterVerdict,
  changes: Partial<FleetClusterRecord> & Pick<Partial<GivenCluster>, 'ratios'> = {},
): GivenCluster & { readonly verdict: ClusterVerdict } {
  const { ratios, ...record } = changes;
  const phase = verdict.kind === 'well' || verdict.kind === 'empty' ? 'well' : 'rolling';
  return {
    record: clusterRecordOf(id, { phase, ...record }),
    verdict,
    ...(ratios === undefined ? {} : { ratios }),
  };
}

/** Verdicts that need no more to be said. */
export const WELL: ClusterVerdict = { kind: 'well', nodes: { updated: 3, desired: 3 } };
/** Of a cluster that is on its way. */
export const ROLLING: ClusterVerdict = { kind: 'rolling', nodes: { updated: 1, desired: 3 } };
const START_FAILURE = {
  cause: 'Halted/StartFailure',
  message: 'it cannot start',
  nodes: [],
} as const;
/** Of one whose canary could not start. */
export const FAILED: ClusterVerdict = { kind: 'failed', failure: START_FAILURE };

/** A cluster that failed at a time. */
export function failedOf(id: string, atMs = NOW_MS): GivenCluster {
  return givenOf(id, FAILED, { phase: 'failed', failure: { ...START_FAILURE, atMs } });
}

/** One that failed for another cause. */
export function failedBy(id: string, cause: ClusterFailureCause): GivenCluster {
  return givenOf(id, FAILED, {
    phase: 'failed',
    failure: { ...START_FAILURE, cause, atMs: NOW_MS },
  });
}

/** What was seen of a stage. */
export function seenOf(
  given: readonly GivenCluster[],
  changes: Partial<ObservedStage> = {},
): ObservedStage {
  return { given, waitingClusters: 0, offlineClusters: 0, untouchedClusters: 0, ...changes };
}

/** The manifest that clusters of `fleetOf()` are given. */
export function renderedManifest(): FleetManifest {
  const rendered = fleetRenderer(fleetOf())({ id: clusterId('c'), labels: {} });
  if (rendered.kind !== 'rendered') throw new Error('the sample renders to nothing');
  return rendered.manifest;
}

/** A cluster that runs it: rolled to its end. */
export function heardOf(
  id: string,
  of: {
    readonly live?: Partial<DaemonSetObject>;
    readonly generation?: number;
    readonly rollout?: Partial<RolloutRecord>;
    readonly cluster?: Partial<HeardCluster>;
    readonly status?: { readonly updatedNumberScheduled: number; readonly desired: number };
  } = {},
): HeardCluster {
  const { generation = 4, rollout, status = { updatedNumberScheduled: 3, desired: 3 } } = of;
  const live = liveOf(renderedManifest(), status.desired);
  const { updatedNumberScheduled } = status;
  const daemonSet = {
    ...live,
    ...of.live,
    metadata: { ...live.metadata, generation, ...of.live?.metadata },
    status: {
      observedGeneration: generation,
      ...live.status,
      updatedNumberScheduled,
      ...of.live?.status,
    },
  } as DaemonSetObject;
  const record = rolloutRecordOf({
    hash: 'r1',
    proven: { hash: 'r1', provenAtMs: BEGAN_MS + 1, isBaseline: false },
    triedAtMs: BEGAN_MS,
    step: { ...rolloutRecordOf().step, kind: 'done' },
    ...rollout,
  });
  return {
    kind: 'heard',
    cluster: clusterId(id),
    clusterUid: clusterUid(`uid-of-${id}`),
    mode: 'takeover',
    labels: {},
    heardAtMs: NOW_MS,
    daemonSet,
    state: { history: { generation, hash: 'r1' } as never, rollout: record },
    ...of.cluster,
  };
}
