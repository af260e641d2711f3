/**
 * Findings about the watcher in its cluster: its Lease, and the Deployment it runs in.
 *
 * Pure. Times in the Lease are another clock's, so they are judged with room.
 */
import type { DoctorFacts } from './facts.ts';
import { failed, finding, notChecked, ok } from './finding.ts';
import type { Finding } from './finding.ts';

const WITH_KUBECONFIG = 'Pass --kubeconfig FILE --context NAME to have it looked at.';
const INSTALL = 'Install the watcher: rollcall cluster add prints its manifests.';
const LOGS = 'kubectl -n rollcall-system logs deploy/rollcall-watcher --tail 50';

/** The Lease: whether somebody holds it, and renews it. */
export function judgeLease({ lease, nowMs }: DoctorFacts): Finding {
  if (lease.kind === 'unchecked') return notChecked('lease', lease.why, WITH_KUBECONFIG);
  const fact = lease.value;
  if (fact.kind === 'missing') {
    return failed('lease', 'lease-missing', {
      seen: 'no watcher has ever taken its Lease in this cluster',
      next: INSTALL,
    });
  }
  const ageMs = fact.renewedAtMs === undefined ? Infinity : nowMs - fact.renewedAtMs;
  // Times of another clock: twice the duration leaves room for it.
  if (ageMs > 2 * fact.durationMs) {
    const seconds = Number.isFinite(ageMs) ? `${Math.round(ageMs / 1000)} s ago` : 'never';
    return failed('lease', 'lease-stale', {
      seen: `the watcher’s Lease was renewed ${seconds}: nobody holds it`,
      next: `Does the watcher run? Look at: ${LOGS}`,
    });
  }
  const seconds = Math.max(0, Math.round(ageMs / 1000));
  return ok('lease', 'lease-ok', `held by ${fact.holder}, renewed ${seconds} s ago`);
}

/** The Deployment; a watcher may well run elsewhere, so a held Lease makes its absence a warning. */
export function judgeWatcher({ watcher, lease }: DoctorFacts): Finding {
  if (watcher.kind === 'unchecked') return notChecked('watcher', watcher.why, WITH_KUBECONFIG);
  const fact = watcher.value;
  if (fact.kind === 'missing') {
    const isHeld = lease.kind === 'checked' && lease.value.kind === 'found';
    const what =
      fact.what === 'namespace'
        ? 'there is no namespace rollcall-system'
        : 'there is no Deployment rollcall-watcher in rollcall-system';
    return finding('watcher', {
      code: 'watcher-not-installed',
      level: isHeld ? 'warning' : 'failed',
      seen: isHeld ? `${what}, and yet a watcher holds the Lease` : what,
      next: INSTALL,
    });
  }
  const { wanted, ready, trouble } = fact;
  if (ready > 0 && ready >= Math.min(wanted, 1)) {
    return ok('watcher', 'watcher-ready', `${ready} of ${wanted} ready`);
  }
  return failed('watcher', 'watcher-not-ready', {
    seen: `${ready} of ${wanted} ready${trouble === undefined ? '' : `: ${trouble}`}`,
    next: `Look at: ${LOGS}`,
  });
}
