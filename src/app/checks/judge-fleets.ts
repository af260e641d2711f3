/**
 * Findings about staged rollouts: of FleetDaemonSets that are placed on a cluster, and of DaemonSets in copilot.
 *
 * Each of these keeps a rollout from happening, and nothing else says so before.
 */
import { counted } from '@rollcall/base/counted.ts';
import { formatPermission } from '../../core/daemon-set/permission.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Facts, FleetsFact } from './needs.ts';
import { failed, notChecked, ok, someNames, warning, type Finding } from './finding.ts';
import { isConnectedTo, isInProcess } from './judge-registration.ts';

const MINUTE_MS = 60_000;
const WITH_KUBECONFIG =
  'Pass --kubeconfig FILE --context NAME to have it checked with your own credential.';

type FleetFacts = Facts<'deployment' | 'fleets' | 'fleetRights'>;

/** Nothing where none is placed, and in observe, where a cluster is given nothing. */
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

const NAME_THEM =
  'kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/copilot-policy.ts | kubectl apply -f -';

/** A policy without effect, and names that admission lacks or has too many of. None but in copilot. */
export function judgeCopilot(
  { mode }: ClusterRegistration,
  { observed, listed, fleets }: Facts<'observed' | 'listed' | 'fleets'>,
): readonly Finding[] {
  if (mode !== 'copilot') return [];
  if (observed.kind === 'unchecked') return [notChecked('copilot', observed.why)];
  const { followed, rollingUpdate } = observed.value;
  const rolling = rollingUpdate.length === 0 ? [] : [judgeRolling(rollingUpdate)];
  // What a fleet brings is named by its own rights, and may be listed as well.
  const ofFleets = fleets.kind === 'checked' ? fleets.value.placed : [];
  return [...rolling, judgeNames(followed, listed, ofFleets)];
}

function judgeRolling(names: readonly string[]): Finding {
  return warning('copilot', 'copilot-rolling-update', {
    seen: `their policy has no effect, because the built-in controller rolls them (RollingUpdate): ${someNames(names)}`,
    next: 'Set updateStrategy.type to OnDelete between two rollouts (docs/modes.md), or remove the annotation.',
  });
}

function judgeNames(
  followed: readonly string[],
  listed: Facts['listed'],
  ofFleets: readonly string[],
): Finding {
  if (listed.kind === 'unchecked') {
    const next = 'Pass --kubeconfig FILE --context NAME to have the admission policy looked at.';
    return notChecked('copilot', listed.why, next);
  }
  const named = [...listed.value, ...ofFleets];
  const unnamed = followed.filter((name) => !named.includes(name));
  if (unnamed.length > 0) {
    return warning('copilot', 'copilot-not-named', {
      seen: `admission lets none of their pods go, so their rollouts wait: ${someNames(unnamed)}`,
      next: NAME_THEM,
    });
  }
  const known = [...followed, ...ofFleets];
  const surplus = listed.value.filter((name) => !known.includes(name));
  if (surplus.length > 0) {
    return warning('copilot', 'copilot-named-too-many', {
      seen: `named, so that their pods could be deleted, though they do not opt in: ${someNames(surplus)}`,
      next: NAME_THEM,
    });
  }
  const seen = `${counted(followed.length, 'DaemonSet opts in, and admission names it', 'DaemonSets opt in, and admission names them')}`;
  return ok('copilot', 'copilot-ok', seen);
}
