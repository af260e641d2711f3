/**
 * The mirror of a FleetDaemonSet: an object of that kind in a management cluster, for people and tools to read. Pure (issue 18, ADR 0068).
 *
 *   spec    which release was applied; raises metadata.generation, so that no old status passes for the new release's
 *   status  conditions, stages, counts; observedGeneration is metadata.generation as the write of the spec was answered
 *
 * Both are written by server-side apply. Nobody decides anything by it: what it says is as old as its last write.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { FLEET_API_VERSION } from '../fleet-daemon-set.ts';
import type { FleetKey } from '../fleet-daemon-set.ts';
import { fleetConditions, fleetStanding } from './fleet-conditions.ts';
import type { ConditionsAt, FormerCondition } from './fleet-conditions.ts';
import type { FleetRecord } from '../rollout/fleet-record.ts';
import { fleetFacts, releaseFacts } from './fleet-facts.ts';

/** Kind of the mirror. */
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
