/**
 * Findings about what the functions know and do (freshness, view, breaker, conflicting controllers), and about the watcher.
 *
 * Pure. Judged by the bounds that bind the functions themselves.
 */
import { counted } from '@rollcall/base/counted.ts';
import { isOpen } from '../../core/model/breaker.ts';
import { WATCHED_KINDS } from '../../core/model/projections.ts';
import { findOutages } from '../../core/status/outages.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterMeta } from '../../core/model/view-items.ts';
import { defaultReconcileOptions } from '../reconcile/process/dependencies.ts';
import type { Facts } from './needs.ts';
import { failed, notChecked, ok, warning, type Finding } from './finding.ts';
import { isInProcess } from './judge-registration.ts';

type ViewFacts = Facts<'meta'>;
/** A snapshot that was asked for, or is under way, is there within this; also in large clusters. */
export const SNAPSHOT_PATIENCE_MS = 10 * 60_000;
const NAMES_SHOWN = 5;

const minutesOf = (ms: number): number => Math.round(ms / 60_000);

/** When something was last heard, and of what (protocol 1). */
export function judgeFreshness({ meta, nowMs }: ViewFacts): Finding {
  const { silenceBoundMs: silentAfterMs } = defaultReconcileOptions;
  if (meta.kind === 'unchecked') return notChecked('freshness', meta.why);
  if (meta.value === undefined) {
    return failed('freshness', 'never-heard', {
      seen: 'no message of this cluster was ever taken',
      next: 'Is its watcher installed, with the role that is registered? See its log, and `message refused` in the log of ingest.',
    });
  }
  const { lastSentAtMs, heardAtMs } = meta.value;
  const ageMs = nowMs - lastSentAtMs;
  if (ageMs > silentAfterMs) {
    return failed('freshness', 'cluster-silent', {
      seen: `the last message was sent ${counted(minutesOf(ageMs), 'minute')} ago`,
      next: 'Look at the watcher: kubectl -n rollcall-system logs deploy/rollcall-watcher --tail 50',
    });
  }
  const silent = WATCHED_KINDS.filter((kind) => {
    const atMs = heardAtMs[kind];
    return atMs === undefined || nowMs - atMs > silentAfterMs;
  });
  if (silent.length > 0) {
    return failed('freshness', 'stream-silent', {
      seen: `the watcher is heard, but nothing of ${silent.join(', ')}: that stream has ended`,
      next: 'Has the watcher the right to list and watch it? Its log says why the stream ends.',
    });
  }
  const seen = `the last message was sent ${Math.max(0, Math.round(ageMs / 1000))} s ago`;
  return ok('freshness', 'freshness-ok', seen);
}

/** Whether the watcher was put off by another one, as it told last; undefined: it was not. */
export function judgeStandBy(
  { id }: Pick<ClusterRegistration, 'id'>,
  { meta, nowMs }: ViewFacts,
): Finding | undefined {
  if (meta.kind === 'unchecked' || meta.value === undefined) return undefined;
  const found = findOutages({ nowMs, cluster: { id, meta: meta.value } });
  const outage = found.find(({ code }) => code === 'watcher-stands-by');
  if (outage === undefined) return undefined;
  return failed('watcher', 'watcher-stands-by', {
    seen: outage.message,
    next: 'End the watcher of that other installation, or take the Lease from it: --take-lease (docs/install.md).',
  });
}

/** Whether the view is whole, and if not, whether that is being mended (protocol 17, 18). */
export function judgeView(
  registration: ClusterRegistration,
  { meta, nowMs }: ViewFacts,
): Finding | undefined {
  if (meta.kind === 'unchecked') return notChecked('view', meta.why);
  if (meta.value === undefined) return undefined;
  if (!meta.value.isComplete) return judgeIncomplete(registration, meta.value, nowMs);
  const { mode, takeoverProbedAtMs = -Infinity } = registration;
  if (mode === 'takeover' && (meta.value.announcedAtMs ?? 0) < takeoverProbedAtMs) {
    return warning('view', 'view-awaits-snapshot', {
      seen: 'takeover was entered: nothing is done before the snapshot that follows its probe',
      next: 'It comes by itself, within minutes.',
    });
  }
  return ok('view', 'view-complete', 'the view is whole');
}

function judgeIncomplete(
  { authentication }: ClusterRegistration,
  { incompleteReason = 'unknown', snapshot, snapshotRequestedAtMs }: ClusterMeta,
  nowMs: number,
): Finding {
  const seen = `the view is not whole (${incompleteReason}): nothing is decided on it`;
  const sinceMs = snapshot?.announcedAtMs ?? snapshotRequestedAtMs;
  if (sinceMs !== undefined && nowMs - sinceMs <= SNAPSHOT_PATIENCE_MS) {
    const what = snapshot === undefined ? 'was asked for' : 'is under way';
    return warning('view', 'view-incomplete', {
      seen: `${seen}; a snapshot ${what}`,
      next: 'Look again in a minute.',
    });
  }
  if (authentication.kind === 'none') {
    return warning('view', 'view-incomplete', {
      seen: `${seen}; without a credential no function can ask for a snapshot`,
      next: 'The watcher sends one within six hours by itself, or at once: kubectl -n rollcall-system rollout restart deploy/rollcall-watcher',
    });
  }
  return failed('view', 'view-stuck', {
    seen: `${seen}; no snapshot came`,
    next: 'Do the functions reach the cluster, and does the watcher send? Or at once: kubectl -n rollcall-system rollout restart deploy/rollcall-watcher',
  });
}

export function judgeBreaker({ meta, nowMs }: ViewFacts): Finding | undefined {
  if (meta.kind === 'unchecked') return notChecked('breaker', meta.why);
  const breaker = meta.value?.breaker;
  if (breaker?.open === undefined) {
    return meta.value === undefined ? undefined : ok('breaker', 'breaker-closed', 'closed');
  }
  const until = isOpen(breaker, nowMs) ? 'the next probe is due soon' : 'a probe is due';
  return failed('breaker', 'breaker-open', {
    seen: `open: the API server did not answer the functions several times; ${until}`,
    next: 'Is the API server up, and reachable from the functions’ network? It closes by itself with the first answer.',
  });
}

/** Whether another controller manages the DaemonSets, and whether the mode allows it (S1, row 58). */
export function judgeRival(
  registration: ClusterRegistration,
  facts: Facts<'sentinel' | 'observed'>,
): Finding {
  return registration.mode === 'takeover'
    ? judgeSentinel(registration, facts)
    : judgeBuiltInLoop(facts);
}

const takeOverAgain = (id: string): string =>
  `Turn the other controller off, then take over anew: rollcall cluster set ${id} --mode takeover; or hand back: rollcall cluster set ${id} --mode observe`;

function judgeSentinel(
  { id, rival }: ClusterRegistration,
  { sentinel }: Facts<'sentinel'>,
): Finding {
  if (rival !== undefined) {
    return failed('conflict', 'conflict-noted', {
      seen: `another DaemonSet controller was seen, and Rollcall has stopped here: ${rival.evidence}`,
      next: takeOverAgain(id),
    });
  }
  if (sentinel.kind === 'unchecked') return notChecked('conflict', sentinel.why);
  switch (sentinel.value) {
    case 'touched':
      return failed('conflict', 'sentinel-touched', {
        seen: 'another DaemonSet controller has synced the sentinel of the takeover',
        next: takeOverAgain(id),
      });
    case 'missing':
    case 'replaced':
      return failed('conflict', 'sentinel-missing', {
        seen: `the sentinel of the takeover is ${sentinel.value}, and Rollcall does nothing here: the cluster was handed back, or the sentinel was deleted`,
        next: `Enter takeover anew, with its probe: rollcall cluster set ${id} --mode takeover; if the cluster was handed back: rollcall cluster set ${id} --mode observe --without-cluster`,
      });
    case 'quiet':
    case 'not-expected':
      return ok('conflict', 'conflict-none', 'no other DaemonSet controller was seen');
  }
}

/** In observe and copilot the built-in loop must be on: told by what it has observed, without writing anything. */
function judgeBuiltInLoop({ observed }: Facts<'observed'>): Finding {
  if (observed.kind === 'unchecked') return notChecked('conflict', observed.why);
  const { total, behind } = observed.value;
  if (behind.length > 0) {
    return warning('conflict', 'built-in-loop-off', {
      seen: `no controller has observed the last change of ${behind.slice(0, NAMES_SHOWN).join(', ')}: the built-in loop seems to be off, and no controller manages the DaemonSets`,
      next: 'Turn it on again, or take over: rollcall cluster set --mode takeover',
    });
  }
  if (total > 0) {
    const seen = 'a controller has observed the last change of every DaemonSet, as it should';
    return ok('conflict', 'built-in-loop-on', seen);
  }
  const seen = 'there is no DaemonSet to tell by whether the built-in loop is on';
  return { link: 'conflict', code: 'built-in-loop-unknown', level: 'unknown', seen };
}

const WITH_KUBECONFIG = 'Pass --kubeconfig FILE --context NAME to have it looked at.';
const INSTALL = 'Install the watcher: rollcall cluster add prints its manifests.';
const LOGS = 'kubectl -n rollcall-system logs deploy/rollcall-watcher --tail 50';

/** The watcher's Lease in its cluster: whether it is held and renewed. */
export function judgeLease({ lease, nowMs }: Facts<'lease'>): Finding {
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
      seen: `the watcher’s Lease was renewed ${seconds}: no watcher holds it`,
      next: `Does the watcher run? Look at: ${LOGS}`,
    });
  }
  const seconds = Math.max(0, Math.round(ageMs / 1000));
  return ok('lease', 'lease-ok', `held by ${fact.holder}, renewed ${seconds} s ago`);
}

/** The watcher's Deployment; a watcher may well run elsewhere, so a held Lease makes its absence a warning. */
export function judgeWatcher({
  watcher,
  lease,
  deployment,
}: Facts<'watcher' | 'lease' | 'deployment'>): Finding {
  if (isInProcess(deployment)) return ok('watcher', 'watcher-ready', 'it runs inside npm start');
  if (watcher.kind === 'unchecked') return notChecked('watcher', watcher.why, WITH_KUBECONFIG);
  const fact = watcher.value;
  if (fact.kind === 'missing') {
    const isHeld = lease.kind === 'checked' && lease.value.kind === 'found';
    const what =
      fact.what === 'namespace'
        ? 'there is no namespace rollcall-system'
        : 'there is no Deployment rollcall-watcher in rollcall-system';
    return isHeld
      ? warning('watcher', 'watcher-not-installed', {
          seen: `${what}, and yet a watcher holds the Lease`,
          next: INSTALL,
        })
      : failed('watcher', 'watcher-not-installed', { seen: what, next: INSTALL });
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
