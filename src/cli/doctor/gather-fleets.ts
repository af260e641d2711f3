/**
 * Facts from the cluster about the FleetDaemonSets that are placed there: rights and admission, as `rollcall fleet rights` prints them.
 *
 * What is asked for is made of the same manifests, so that no list of rights is written twice.
 */
import type { FleetAdmissionFact, FleetsFact, RightsFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { permissionsOf } from '../../app/doctor/required-permissions.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import {
  FLEET_POLICIES,
  fleetNames,
  fleetRights,
  fleetsNamedBy,
} from '../fleet/fleet-manifests.ts';
import { gatherRights } from './gather-rights.ts';
import { functionsIdentity } from './identities.ts';
import { whyNot } from './ways-in.ts';
import type { WaysIn } from './ways-in.ts';

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

/** Where to look, and for whom. */
export interface FleetQuestion {
  readonly registration: Pick<ClusterRegistration, 'mode' | 'authentication'>;
  readonly ways: WaysIn;
  /** Namespaces with DaemonSets. */
  readonly namespaces: readonly string[];
  /** Read beside everything else. */
  readonly fleets: Promise<Checked<FleetsFact>>;
}

/** What `rollcall fleet rights` would print is what is asked for. */
export async function gatherFleetRights(question: FleetQuestion): Promise<Checked<RightsFact>> {
  const placed = await placedOn(question);
  if ('why' in placed) return unchecked(placed.why);
  return gatherRights(question, {
    needed: permissionsOf(fleetRights(fleetNames(placed.names))),
    self: true,
    identity: functionsIdentity(question.registration, 'act'),
  });
}

/** By the user's own credential: no function may read policies. */
export async function gatherFleetAdmission(
  question: FleetQuestion,
): Promise<Checked<FleetAdmissionFact>> {
  const placed = await placedOn(question);
  if ('why' in placed) return unchecked(placed.why);
  const { mode } = question.registration;
  const way = question.ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const named = async (policy: string): Promise<Checked<readonly string[] | undefined>> => {
    const answer = await way.inspection.read(`${POLICIES}/${policy}`);
    if (answer.kind === 'missing') return checked(undefined);
    if (answer.kind !== 'answered') return unchecked(whyNot(answer));
    return checked(fleetsNamedBy(answer.value));
  };
  const created = await named(FLEET_POLICIES.create);
  const excepted = mode === 'observe' ? checked(undefined) : await named(FLEET_POLICIES[mode]);
  if (created.kind === 'unchecked') return created;
  if (excepted.kind === 'unchecked') return excepted;
  return checked(defined({ created: created.value, excepted: excepted.value }));
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
