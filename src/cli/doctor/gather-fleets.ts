/**
 * Facts from the cluster about the FleetDaemonSets that are placed there: the rights that `rollcall fleet rights` prints.
 *
 * What is asked for is made of the same manifests, so that no list of rights is written twice.
 */
import type { FleetRightsFact, FleetsFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { permissionsOf } from '../../app/doctor/required-permissions.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { ROLL_OUT, fleetNames, fleetRights } from '../fleet/fleet-manifests.ts';
import { gatherRights } from './gather-rights.ts';
import { functionsIdentity } from './identities.ts';
import type { WaysIn } from './ways-in.ts';

/** Where to look, and for whom. */
export interface FleetQuestion {
  readonly registration: Pick<ClusterRegistration, 'mode' | 'authentication'>;
  readonly ways: WaysIn;
  /** Namespaces with DaemonSets. */
  readonly namespaces: readonly string[];
  /** Read beside everything else. */
  readonly fleets: Promise<Checked<FleetsFact>>;
}

/** What `rollcall fleet rights` would print is what is asked for; and whether the same holds for every DaemonSet. */
export async function gatherFleetRights(
  question: FleetQuestion,
): Promise<Checked<FleetRightsFact>> {
  const placed = await placedOn(question);
  if ('why' in placed) return unchecked(placed.why);
  const identity = functionsIdentity(question.registration, 'act');
  const printed = permissionsOf(fleetRights(fleetNames(placed.names)));
  const ofAll = { group: 'apps', resource: 'daemonsets', verb: ROLL_OUT };
  const rights = await gatherRights(question, { needed: printed, self: true, identity });
  if (rights.kind === 'unchecked') return rights;
  const all = await gatherRights(
    { ...question, namespaces: [] },
    { needed: [ofAll], self: true, identity },
  );
  if (all.kind === 'unchecked') return all;
  return checked({ ...rights.value, isOfAll: all.value.missing.length === 0 });
}

/** Of whom something is to be asked. */
async function placedOn(
  question: FleetQuestion,
): Promise<{ readonly names: readonly string[] } | { readonly why: string }> {
  const fleets = await question.fleets;
  if (fleets.kind === 'unchecked') return { why: fleets.why };
  const { placed } = fleets.value;
  return placed.length === 0 ? { why: 'no fleet is placed here' } : { names: placed };
}
