/**
 * What the registry alone forbids a run: mode, rival and freeze, in this order (design 5, protocol 13);
 * and in copilot, what the DaemonSet does not ask for.
 *
 * Assumes nothing about the view; what its freshness forbids is another matter (core/view/freshness.ts). In copilot the
 * built-in controller is expected: there is no rival, and no status of ours, so a frozen cluster is only observed.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Guard } from '../model/plan.ts';
import type { ClusterRegistration } from '../model/registration.ts';
import { describeFreeze, type StandingFreeze } from './freeze.ts';
import { copilotGuard } from './opt-in.ts';

/** The freeze that holds a DaemonSet: `ofStack`, by the stack's item, or the cluster's own; the widest of them. */
export function freezeInForce(
  { isFrozen, frozen }: Pick<ClusterRegistration, 'isFrozen' | 'frozen'>,
  ofStack: StandingFreeze | undefined,
): StandingFreeze | undefined {
  if (!isFrozen || ofStack?.scope === 'stack') return ofStack;
  return { scope: 'cluster', ...defined({ note: frozen }) };
}

/** Mode, rival and freeze of the cluster, and of the stack (design 5, protocol 13). */
export function guardOfRegistration(
  registration: ClusterRegistration,
  ofStack?: StandingFreeze,
): Guard {
  const frozen = freezeInForce(registration, ofStack);
  if (registration.mode === 'observe') {
    const message = 'The cluster is only observed; nothing is changed in it.';
    return { kind: 'observe', code: 'observe-mode', message };
  }
  if (registration.mode === 'copilot') {
    if (frozen === undefined) return { kind: 'act' };
    const message = `${describeFreeze(frozen)}; nothing is changed in it.`;
    return { kind: 'observe', code: 'frozen', message };
  }
  if (registration.rival !== undefined) {
    const message = `Another controller is at work in this cluster: ${registration.rival.evidence}.`;
    return { kind: 'observe', code: 'conflicting-controller', message };
  }
  if (frozen !== undefined) {
    const message = `${describeFreeze(frozen)}; only its status is kept up to date.`;
    return { kind: 'status-only', code: 'frozen', message };
  }
  return { kind: 'act' };
}

/** The same, and whether Rollcall has a part in this DaemonSet. */
export function guardOfSubject(
  registration: ClusterRegistration,
  daemonSet: DaemonSetObject,
  ofStack?: StandingFreeze,
): Guard {
  const guard = guardOfRegistration(registration, ofStack);
  if (guard.kind !== 'act' || registration.mode !== 'copilot') return guard;
  return copilotGuard(daemonSet) ?? guard;
}
