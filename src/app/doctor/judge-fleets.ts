/**
 * Findings about the FleetDaemonSets that are placed on a cluster: what keeps the functions from giving it their DaemonSets.
 *
 * Pure. Each of these shows in a rollout as a cluster that failed, or as a fleet that stands still; here it is told before. Nothing is
 * found where none is placed, and in observe, where none is given anything.
 */
import { counted } from '@rollcall/base/counted.ts';
import { formatPermission } from '../../core/daemon-set/permission.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { DoctorFacts, FleetsFact } from './facts.ts';
import { failed, notChecked, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';
import { isConnectedTo, isInProcess } from './judge-registration.ts';
import { someNames } from './some-names.ts';

const MINUTE_MS = 60_000;
const WITH_KUBECONFIG =
  'Pass --kubeconfig FILE --context NAME to have it checked with your own credential.';

type FleetFacts = Pick<DoctorFacts, 'nowMs' | 'deployment' | 'fleets' | 'fleetRights'>;

/** Everything about fleets. */
export function judgeFleets(
  registration: ClusterRegistration,
  facts: FleetFacts,
): readonly Finding[] {
  if (registration.mode === 'observe' || !isConnectedTo(registration)) return [];
  const { fleets } = facts;
  if (fleets.kind === 'unchecked') return [notChecked('fleets', fleets.why)];
  const { placed } = fleets.value;
  const found = [
    ...judgeDocuments(fleets.value),
    ...judgeSteps(fleets.value, facts.nowMs),
    ...(placed.length === 0 ? [] : judgeRights(registration, facts)),
  ];
  if (found.length > 0 || placed.length === 0) return found;
  return [
    ok('fleets', 'fleets-ok', `placed here, and nothing is in the way: ${someNames(placed)}`),
  ];
}

function judgeDocuments({ unreadable }: FleetsFact): readonly Finding[] {
  if (unreadable.length === 0) return [];
  return [
    warning('fleets', 'fleets-unreadable', {
      seen: `they may be placed here, but this release cannot read them: ${someNames(unreadable)}`,
      next: 'Use the program of the release that is deployed, or apply them again.',
    }),
  ];
}

/** A schedule that is off, a right of the function that is missing, a table that refuses: all of them show so. */
function judgeSteps({ late }: FleetsFact, nowMs: number): readonly Finding[] {
  if (late.length === 0) return [];
  const minutes = (sinceMs: number): number => Math.round((nowMs - sinceMs) / MINUTE_MS);
  const names = late.map(
    ({ fleet, sinceMs }) => `${fleet} (${counted(minutes(sinceMs), 'minute')})`,
  );
  return [
    warning('fleets', 'fleets-late', {
      seen: `the function fleet has not made the step that is due: ${someNames(names)}`,
      next: 'rollcall stack check says whether its schedule is off; else its log: a fleet could not be stepped, or a right of its role that is missing.',
    }),
  ];
}

function judgeRights(
  { id, mode }: ClusterRegistration,
  { fleetRights, deployment }: FleetFacts,
): readonly Finding[] {
  if (fleetRights.kind === 'unchecked') {
    return [notChecked('fleets', `rights: ${fleetRights.why}`, WITH_KUBECONFIG)];
  }
  const { required, missing, isOfAll } = fleetRights.value;
  if (missing.length > 0) {
    const rights = someNames(missing.map(formatPermission));
    return [
      failed('fleets', 'fleets-rights-missing', {
        seen: `${String(missing.length)} of ${String(required)} rights are missing, and in ${mode} they are needed: ${rights}`,
        next: `rollcall fleet rights ${id} | kubectl apply -f -`,
      }),
    ];
  }
  if (!isOfAll || isInProcess(deployment)) return [];
  return [
    warning('fleets', 'fleets-unbounded', {
      seen: 'the functions may roll out any DaemonSet: admission refuses none of those that no fleet has',
      next: 'Take from them the role that has every verb (*) on daemonsets; rollcall fleet rights prints what they need.',
    }),
  ];
}
