/**
 * A decision of a fleet as a CloudEvent 1.0 in structured JSON. Pure (issue 18; facts 6 of rollouts and fleets).
 *
 * `source` and `id` together name the decision: whoever is told twice knows it by them. Far below the 64 KB that every
 * broker takes, whatever the record holds. Its data follow infra/schema/fleet-decision.schema.json; fields are added to it, and none
 * is given another meaning.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { formatFleetKey } from '../fleet-daemon-set.ts';
import { boundedText, timeOf } from './fleet-conditions.ts';
import type { FleetDecision } from '../rollout/fleet-decision.ts';
import { fleetFacts } from './fleet-facts.ts';

/** Identifies the schema of `data`: its `$id`. */
export const DECISION_SCHEMA = 'urn:rollcall:schema:fleet-decision:v1';

/** Of a whole event. */
export const EVENT_BYTES_MAX = 64 * 1024;

const ID_CHARACTERS_MAX = 512;

/** An event as brokers take it. */
export interface FleetEvent {
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
    time: timeOf(atMs),
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
