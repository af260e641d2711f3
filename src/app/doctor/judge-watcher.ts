/**
 * Findings about the watcher in its cluster: its Lease, and the Deployment it runs in.
 *
 * Pure. Times in the Lease are another clock's, so they are judged with room.
 */
import type { DoctorFacts } from './facts.ts';
import { finding, notChecked } from './finding.ts';
import type { Finding } from './finding.ts';

const WITH_KUBECONFIG = 'Pass --kubeconfig FILE --context NAME to have it looked at.';
const INSTALL = 'Install the watcher: rollcall cluster add prints its manifests.';
const LOGS = 'kubectl -n rollcall-system logs deploy/rollcall-watcher --tail 50';

/** The Lease: whether somebody holds it, and renews it. */
export function judgeLease({ lease, nowMs }: DoctorFacts): Finding {
  if (lease.kind === 'unchecked') return notChecked('lease', lease.why, WITH_KUBECONFIG);
  const fact = lease.value;
  if (fact.kind === 'missing') {
    return finding('lease', {
      code: 'lease-missing',
      level: 'failed',
      seen: 'no watcher has ever taken its Lease in this cluster',
      next: INSTALL,
    });
  }
  const ageMs = fact.renewedAtMs === undefined ? Infinity : nowMs - fact.renewedAtMs;
  // Times of another clock: twice the duration leaves room for it.
  if (ageMs > 2 * fact.durationMs) {
    const seconds = Number.isFinite(ageMs) ? `${Math.round(ageMs / 1000)} s ago` : 'never';
    return finding('lease', {
      code: 'lease-stale',
      level: 'failed',
      seen: `the watcher’s Lease was renewed ${seconds}: nobody holds it`,
      next: `Does the watcher run? Look at: ${LOGS}`,
    });
  }
  const seconds = Math.max(0, Math.round(ageMs / 1000));
  const seen = `held by ${fact.holder}, renewed ${seconds} s ago`;
  return finding('lease', { code: 'lease-ok', level: 'ok', seen });
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
    const seen = `${ready} of ${wanted} ready`;
    return finding('watcher', { code: 'watcher-ready', level: 'ok', seen });
  }
  return finding('watcher', {
    code: 'watcher-not-ready',
    level: 'failed',
    seen: `${ready} of ${wanted} ready${trouble === undefined ? '' : `: ${trouble}`}`,
    next: `Look at: ${LOGS}`,
  });
}
