/**
 * What is wrong with a cluster as far as registry and view tell, and what to do about it.
 *
 * Pure, and asks the cluster nothing: what only the cluster knows is `rollcall cluster doctor`'s to find.
 * Codes are in docs/cli.md.
 */
import type { ClusterDetails } from './cluster-details.ts';
import { SILENT_AFTER_MS } from './cluster-summary.ts';
import type { ClusterSummary } from './cluster-summary.ts';

/** What kind of thing is wrong. */
export type FindingCode =
  | 'rebuilt'
  | 'frozen'
  | 'rival'
  | 'never-heard'
  | 'silent'
  | 'view-incomplete'
  | 'no-credential'
  | 'token-missing'
  | 'token-expired'
  | 'token-of-another-cluster'
  | 'breaker-open'
  | 'awaiting-snapshot';

/** One thing that is wrong. */
export interface Finding {
  readonly code: FindingCode;
  readonly message: string;
  /** What to do next. */
  readonly remedy: string;
}

/** Finds what is wrong, the gravest first. */
export function diagnose(summary: ClusterSummary, details: ClusterDetails): readonly Finding[] {
  return [
    ...registered(summary),
    ...heard(summary, details),
    ...credential(details),
    ...acting(details),
  ];
}

function registered(summary: ClusterSummary): Finding[] {
  const { id, rival, isFrozen, mode, authentication, rebuilt } = summary;
  const findings: Finding[] = [];
  if (rebuilt !== undefined) {
    findings.push({
      code: 'rebuilt',
      message: `Its watcher speaks of another cluster, ${rebuilt.foundUid}: it was rebuilt. Nothing is written there.`,
      remedy: `Register it anew: rollcall cluster reset ${id}. If it was not rebuilt, take its role away from the other cluster.`,
    });
  }
  if (rival !== undefined) {
    findings.push({
      code: 'rival',
      message: `Another controller works on its DaemonSets; Rollcall has stopped there. ${rival.evidence}`,
      remedy: `Switch that one off, then: rollcall cluster set ${id} --mode takeover. Or leave: --mode observe.`,
    });
  }
  if (isFrozen) {
    findings.push({
      code: 'frozen',
      message: 'The cluster is frozen: nothing is created or deleted there.',
      remedy: `To go on: rollcall cluster set ${id} --unfreeze`,
    });
  }
  if (mode === 'takeover' && authentication === 'none') {
    findings.push({
      code: 'no-credential',
      message: 'It is in takeover, but the functions have no credential for it.',
      remedy: `rollcall cluster set ${id} --eks-cluster … --eks-region …, or --renewer-role-id …`,
    });
  }
  return findings;
}

function heard(summary: ClusterSummary, { meta }: ClusterDetails): Finding[] {
  const { id, silentForMs } = summary;
  if (meta === undefined) {
    return [
      {
        code: 'never-heard',
        message: 'Its watcher was never heard.',
        remedy: `Install it (rollcall cluster add prints how), or look why it cannot send: rollcall cluster doctor ${id}`,
      },
    ];
  }
  const findings: Finding[] = [];
  if ((silentForMs ?? 0) > SILENT_AFTER_MS) {
    findings.push({
      code: 'silent',
      message: 'Its watcher has been silent for longer than its longest heartbeat.',
      remedy: `Look at it (kubectl -n rollcall-system get pods, logs), or: rollcall cluster doctor ${id}`,
    });
  }
  if (!meta.isComplete) {
    findings.push({
      code: 'view-incomplete',
      message: `The view of the cluster is not whole (${meta.incompleteReason ?? 'no snapshot yet'}); nothing is created or deleted on it.`,
      remedy:
        'The watcher is asked for a snapshot by itself, within minutes; if it stays so: doctor.',
    });
  }
  return findings;
}

function credential({ registration, token, nowMs }: ClusterDetails): Finding[] {
  if (registration.authentication.kind !== 'bound-token') return [];
  const renewer =
    'Look at the renewer: kubectl -n rollcall-system get cronjob,job -l app.kubernetes.io/part-of=rollcall';
  if (token === undefined) {
    return [{ code: 'token-missing', message: 'No token was sent yet.', remedy: renewer }];
  }
  if (!token.isOfThisCluster) {
    const message = 'The token that was sent last belongs to another cluster UID.';
    return [{ code: 'token-of-another-cluster', message, remedy: renewer }];
  }
  if (token.expiresAtMs > nowMs) return [];
  return [{ code: 'token-expired', message: 'The token has expired.', remedy: renewer }];
}

function acting({ registration, meta, nowMs }: ClusterDetails): Finding[] {
  const findings: Finding[] = [];
  if ((meta?.breaker?.open?.untilMs ?? 0) > nowMs) {
    findings.push({
      code: 'breaker-open',
      message: 'Its API server did not answer lately and is left alone for a while.',
      remedy: `It is tried again by itself; to see why: rollcall cluster doctor ${registration.id}`,
    });
  }
  const { takeoverProbedAtMs, mode } = registration;
  const isAwaited =
    mode === 'takeover' &&
    takeoverProbedAtMs !== undefined &&
    meta?.isComplete === true &&
    (meta.announcedAtMs ?? 0) < takeoverProbedAtMs;
  if (isAwaited) {
    findings.push({
      code: 'awaiting-snapshot',
      message: 'Takeover was entered; the snapshot after its probe is awaited.',
      remedy: 'It comes by itself, within minutes.',
    });
  }
  return findings;
}
