/**
 * A fleet's record as others read it: the same fields in the mirror's status and in CloudEvents. Pure.
 *
 * Bounded, whatever the record holds: no list of it grows with the clusters. Nothing of a manifest is in it, so nothing secret.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { boundedText, standingBreach, timeOf } from './fleet-conditions.ts';
import { poolEValue } from '../attribution/fleet-pool.ts';
import type { FleetPool } from '../attribution/fleet-pool.ts';
import type { FleetRecord, FleetRelease } from '../rollout/fleet-record.ts';

/** Stages of a FleetDaemonSet are no more (docs/fleet.md). */
const STAGES_MAX = 32;
const NAME_CHARACTERS_MAX = 253;
const CLUSTERS_MAX = 16;
/** E beyond it is shown as this. */
const E_SHOWN_MAX = 1e6;

/** One release, without what names its document. */
export function releaseFacts(release: FleetRelease): JsonObject {
  return {
    generation: release.generation,
    contentHash: boundedText(release.contentHash, NAME_CHARACTERS_MAX),
    appliedAt: timeOf(release.appliedAtMs),
    appliedBy: boundedText(release.appliedBy, NAME_CHARACTERS_MAX),
  };
}

/** What a stage is: passed, open, or not yet. */
function stateOf(index: number, stage: number): string {
  if (index < stage) return 'Passed';
  return index === stage ? 'Open' : 'Waiting';
}

/** Clusters of fewer than ten nodes, compared with each other. Text: a CRD has no number that every tool reads alike. */
function poolFacts(pool: FleetPool): JsonObject {
  const { givenNodes, givenBad, otherNodes, otherBad } = pool.counts;
  return {
    clusters: pool.places.length,
    ...{ givenNodes, givenBad, otherNodes, otherBad },
    eValue: Math.min(poolEValue(pool), E_SHOWN_MAX).toFixed(1),
  };
}

/** How a fleet stands. */
export function fleetFacts(record: FleetRecord): JsonObject {
  const { stage, stages, counts, ring, good, pool } = record;
  const [newest] = good;
  const breach = standingBreach(record);
  const open = stages[stage];
  return {
    release: releaseFacts(record.release),
    ...(newest === undefined ? {} : { provenGeneration: newest.generation }),
    startedAt: timeOf(record.startedAtMs),
    ...(open === undefined ? {} : { openStage: boundedText(open.name, NAME_CHARACTERS_MAX) }),
    stages: stages.slice(0, STAGES_MAX).map(({ name, members }, index) => ({
      name: boundedText(name, NAME_CHARACTERS_MAX),
      clusters: members.count,
      state: stateOf(index, stage),
    })),
    // Each member by its name: a record of a later release may have more.
    openCounts: {
      waiting: counts.waiting,
      rolling: counts.rolling,
      well: counts.well,
      failed: counts.failed,
      offline: counts.offline,
      untouched: counts.untouched,
      returning: counts.returning,
    },
    ringClusters: ring.count,
    ...(pool === undefined || pool.places.length === 0 ? {} : { smallClusters: poolFacts(pool) }),
    ...(breach === undefined
      ? {}
      : {
          breach: {
            cause: breach.cause,
            at: timeOf(breach.atMs),
            message: boundedText(breach.message),
            clusters: breach.clusters
              .slice(0, CLUSTERS_MAX)
              .map((id) => boundedText(id, NAME_CHARACTERS_MAX)),
          },
        }),
  };
}
