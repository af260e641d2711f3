/**
 * A fleet's record as others read it: the mirror's object and status, and a CloudEvent. Pure,
 * bounded. Nothing of a manifest is in it. The mirror's spec raises metadata.generation, so no old
 * status passes for the new release's. `source` and `id` name a decision; fields are only ever
 * added to infra/schema/fleet-decision.schema.json.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { boundedText, fleetConditions, fleetStanding, standingBreach } from './fleet-conditions.ts';
import type { ConditionsAt, FormerCondition } from './fleet-conditions.ts';
import { E_SHOWN_MAX } from '../../health/trial.ts';
import { poolEValue, type FleetPool } from '../attribution/fleet-pool.ts';
import type { FleetRecord, FleetRelease } from '../rollout/fleet-record.ts';
import { FLEET_API_VERSION, formatFleetKey, type FleetKey } from '../fleet-daemon-set.ts';
import type { FleetDecision } from '../rollout/fleet-decision.ts';
import { timeText } from '../../rollout/gate-words.ts';

/** Stages of a FleetDaemonSet are no more (docs/fleet.md). */
const STAGES_MAX = 32;
const NAME_CHARACTERS_MAX = 253;
const CLUSTERS_MAX = 16;

function releaseFacts(release: FleetRelease): JsonObject {
  return {
    generation: release.generation,
    contentHash: boundedText(release.contentHash, NAME_CHARACTERS_MAX),
    appliedAt: timeText(release.appliedAtMs),
    appliedBy: boundedText(release.appliedBy, NAME_CHARACTERS_MAX),
  };
}

/** State of a stage: passed, open, or not yet. */
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

function fleetFacts(record: FleetRecord): JsonObject {
  const { stage, stages, counts, ring, good, pool } = record;
  const [newest] = good;
  const breach = standingBreach(record);
  const open = stages[stage];
  return {
    release: releaseFacts(record.release),
    ...(newest === undefined ? {} : { provenGeneration: newest.generation }),
    startedAt: timeText(record.startedAtMs),
    ...(open === undefined ? {} : { openStage: boundedText(open.name, NAME_CHARACTERS_MAX) }),
    stages: stages.slice(0, STAGES_MAX).map(({ name, members }, index) => ({
      name: boundedText(name, NAME_CHARACTERS_MAX),
      clusters: members.count,
      state: stateOf(index, stage),
    })),
    openCounts: { ...counts },
    ringClusters: ring.count,
    ...(pool === undefined || pool.places.length === 0 ? {} : { smallClusters: poolFacts(pool) }),
    ...(breach === undefined
      ? {}
      : {
          breach: {
            cause: breach.cause,
            at: timeText(breach.atMs),
            message: boundedText(breach.message),
            clusters: breach.clusters
              .slice(0, CLUSTERS_MAX)
              .map((id) => boundedText(id, NAME_CHARACTERS_MAX)),
          },
        }),
  };
}

const MIRROR_KIND = 'FleetDaemonSet';

function identity({ namespace, name }: FleetKey): JsonObject {
  return { apiVersion: FLEET_API_VERSION, kind: MIRROR_KIND, metadata: { namespace, name } };
}

/** The object without its status. */
export function mirrorObject(record: FleetRecord): JsonObject {
  return { ...identity(record), spec: { uid: record.uid, ...releaseFacts(record.release) } };
}

/** Its status alone, as it is applied. */
export function mirrorStatus(record: FleetRecord, at: ConditionsAt): JsonObject {
  return {
    ...identity(record),
    status: {
      observedGeneration: at.observedGeneration,
      recordVersion: record.version,
      state: fleetStanding(record).reason,
      ...fleetFacts(record),
      conditions: fleetConditions(record, at).map((condition) => ({ ...condition })),
    },
  };
}

/** The conditions of a mirror as it was read; what is none is left out. */
export function formerConditions(object: Json | undefined): readonly FormerCondition[] {
  return jsonItems(jsonMember(jsonMember(object, 'status'), 'conditions'))
    .filter(isJsonObject)
    .flatMap(({ type, status, lastTransitionTime }) =>
      typeof type === 'string' &&
      typeof status === 'string' &&
      typeof lastTransitionTime === 'string'
        ? [{ type, status, lastTransitionTime }]
        : [],
    );
}

/** Identifies the schema of `data`: its `$id`. */
export const DECISION_SCHEMA = 'urn:rollcall:schema:fleet-decision:v1';

/** Of a whole event. */
export const EVENT_BYTES_MAX = 64 * 1024;

const ID_CHARACTERS_MAX = 512;

interface FleetEvent {
  readonly id: string;
  readonly type: string;
  readonly atMs: number;
  /** The whole CloudEvent. */
  readonly event: JsonObject;
}

/** The event of a decision that the stack of this name made. */
export function fleetEvent(decision: FleetDecision, stackName: string): FleetEvent {
  const { kind, record, atMs, cluster } = decision;
  const { namespace, name, uid, version } = record;
  const id = boundedText(decision.id, ID_CHARACTERS_MAX);
  const type = `dev.rollcall.fleet.${kind}`;
  const event: JsonObject = {
    specversion: '1.0',
    id,
    source: `/rollcall/stacks/${stackName}/fleets`,
    type,
    subject: formatFleetKey(record),
    time: timeText(atMs),
    datacontenttype: 'application/json',
    dataschema: DECISION_SCHEMA,
    data: {
      decision: kind,
      message: boundedText(decision.message),
      fleet: { namespace, name, uid },
      recordVersion: version,
      ...(cluster === undefined ? {} : { cluster }),
      ...fleetFacts(record),
    },
  };
  return { id, type, atMs, event };
}
