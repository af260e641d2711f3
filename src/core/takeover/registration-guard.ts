/**
 * What the registration of a cluster alone forbids a run: mode, rival and freeze, in this order (design 5, protocol 13);
 * and in copilot, what the DaemonSet does not ask for.
 *
 * Assumes nothing about the view; what its freshness forbids is another matter (core/view/freshness.ts). In copilot the
 * built-in controller is expected: there is no rival, and no status of ours, so a frozen cluster is only observed.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Guard } from '../model/plan.ts';
import type { ClusterRegistration } from '../model/registration.ts';
import { copilotGuard } from './opt-in.ts';

/** Mode, rival and freeze of the cluster (design 5, protocol 13). */
export function guardOfRegistration(registration: ClusterRegistration): Guard {
  if (registration.mode === 'observe') {
    const message = 'The cluster is only observed; nothing is changed in it.';
    return { kind: 'observe', code: 'observe-mode', message };
  }
  if (registration.mode === 'copilot') {
    if (!registration.isFrozen) return { kind: 'act' };
    const message = 'The cluster is frozen; nothing is changed in it.';
    return { kind: 'observe', code: 'frozen', message };
  }
  if (registration.rival !== undefined) {
    const message = `Another controller is at work in this cluster: ${registration.rival.evidence}.`;
    return { kind: 'observe', code: 'rival-controller', message };
  }
  if (registration.isFrozen) {
    const message = 'The cluster is frozen; only its status is kept up to date.';
    return { kind: 'status-only', code: 'frozen', message };
  }
  return { kind: 'act' };
}

/** The same, and whether Rollcall has a part in this DaemonSet. */
export function guardOfSubject(
  registration: ClusterRegistration,
  daemonSet: DaemonSetObject,
): Guard {
  const guard = guardOfRegistration(registration);
  if (guard.kind !== 'act' || registration.mode !== 'copilot') return guard;
  return copilotGuard(daemonSet) ?? guard;
}
