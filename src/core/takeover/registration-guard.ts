/**
 * What the registration of a cluster alone forbids a run: mode, rival and freeze, in this order (design 5, protocol 13).
 *
 * Assumes nothing about the view; what its freshness forbids is another matter (core/view/freshness.ts).
 */
import type { Guard } from '../model/plan.ts';
import type { ClusterRegistration } from '../model/registration.ts';

/** Mode, rival and freeze of the cluster (design 5, protocol 13). */
export function guardOfRegistration(registration: ClusterRegistration): Guard {
  if (registration.mode === 'observe') {
    const message = 'The cluster is only observed; nothing is changed in it.';
    return { kind: 'observe', code: 'observe-mode', message };
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
