/**
 * What is wrong with a cluster as far as registry and view tell, and what to do about it.
 *
 * Each fact is judged where `cluster doctor` judges it (src/app/doctor); here its code is put into the
 * words of `cluster show`. Pure, and asks the cluster nothing: what only the cluster knows is the doctor's
 * to find. Codes are in docs/cli.md.
 */
import type { TokenFact } from '../../../app/doctor/facts.ts';
import { checked } from '../../../app/doctor/finding.ts';
import type { Checked } from '../../../app/doctor/finding.ts';
import { judgeToken } from '../../../app/doctor/judge-credential.ts';
import { judgeFreeze, judgeMode } from '../../../app/doctor/judge-registration.ts';
import {
  judgeBreaker,
  judgeFreshness,
  judgeRivalNote,
  judgeView,
} from '../../../app/doctor/judge-view.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import { SILENT_AFTER_MS } from '../../../core/status/outages.ts';
import type { ClusterSummary } from './cluster-summary.ts';

/** Everything that is read of one cluster; of a sealed token only the times. */
export interface ClusterDetails {
  readonly registration: ClusterRegistration;
  /** Undefined: nothing was ever heard of the cluster. */
  readonly meta: ClusterMeta | undefined;
  readonly token: Checked<TokenFact>;
  /** Not counted to the end if there are very many. */
  readonly daemonSets: { readonly count: number; readonly isCounted: boolean };
  readonly nowMs: number;
}

const RENEWER =
  'Look at the renewer: kubectl -n rollcall-system get cronjob,job -l app.kubernetes.io/part-of=rollcall';

interface Words {
  readonly message: string;
  readonly remedy: string;
}

const WORDS = {
  rebuilt: ({ id, rebuilt }) => ({
    message: `Its watcher speaks of another cluster, ${rebuilt?.foundUid ?? ''}: it was rebuilt. Nothing is written there.`,
    remedy: `Register it anew: rollcall cluster reset ${id}. If it was not rebuilt, take its role away from the other cluster.`,
  }),
  rival: ({ id, rival }) => ({
    message: `Another controller works on its DaemonSets; Rollcall has stopped there. ${rival?.evidence ?? ''}`,
    remedy: `Switch that one off, then: rollcall cluster set ${id} --mode takeover. Or leave: --mode observe.`,
  }),
  frozen: ({ id }) => ({
    message: 'The cluster is frozen: nothing is created or deleted there.',
    remedy: `To go on: rollcall thaw --cluster ${id}`,
  }),
  'no-credential': ({ id, mode }) => ({
    message: `It is in ${mode}, but the functions have no credential for it.`,
    remedy: `rollcall cluster set ${id} --eks-cluster … --eks-region …, or --renewer-role-id …`,
  }),
  'never-heard': ({ id }) => ({
    message: 'Its watcher was never heard.',
    remedy: `Install it (rollcall cluster add prints how), or look why it cannot send: rollcall cluster doctor ${id}`,
  }),
  silent: ({ id }) => ({
    message: 'Its watcher has been silent for longer than its longest heartbeat.',
    remedy: `Look at it (kubectl -n rollcall-system get pods, logs), or: rollcall cluster doctor ${id}`,
  }),
  'view-incomplete': ({ incompleteReason = 'no snapshot yet' }) => ({
    message: `The view of the cluster is not whole (${incompleteReason}); nothing is created or deleted on it.`,
    remedy:
      'The watcher is asked for a snapshot by itself, within minutes; if it stays so: doctor.',
  }),
  'token-missing': () => ({ message: 'No token was sent yet.', remedy: RENEWER }),
  'token-of-another-cluster': () => ({
    message: 'The token that was sent last belongs to another cluster UID.',
    remedy: RENEWER,
  }),
  'token-expired': () => ({ message: 'The token has expired.', remedy: RENEWER }),
  'breaker-open': ({ id }) => ({
    message: 'Its API server did not answer lately and is left alone for a while.',
    remedy: `It is tried again by itself; to see why: rollcall cluster doctor ${id}`,
  }),
  'awaiting-snapshot': () => ({
    message: 'Takeover was entered; the snapshot after its probe is awaited.',
    remedy: 'It comes by itself, within minutes.',
  }),
} satisfies Readonly<Record<string, (summary: ClusterSummary) => Words>>;

/** What kind of thing is wrong. */
export type FindingCode = keyof typeof WORDS;

/** One thing that is wrong, and what to do next. */
export interface Finding extends Words {
  readonly code: FindingCode;
}

/** Findings of the doctor that are shown here; its others need a look into the cluster, or are no trouble. */
const SHOWN: Readonly<Record<string, FindingCode>> = {
  'rival-noted': 'rival',
  frozen: 'frozen',
  'mode-without-credential': 'no-credential',
  'never-heard': 'never-heard',
  'cluster-silent': 'silent',
  'view-incomplete': 'view-incomplete',
  'view-stuck': 'view-incomplete',
  'credential-missing': 'token-missing',
  'credential-other-cluster': 'token-of-another-cluster',
  'credential-expired': 'token-expired',
  'breaker-open': 'breaker-open',
};

/** Finds what is wrong, the gravest first. */
export function diagnose(summary: ClusterSummary, details: ClusterDetails): readonly Finding[] {
  const { registration, meta, token, nowMs } = details;
  const facts = { meta: checked(meta), token, nowMs };
  // The doctor also names a breaker whose time is over, since nothing was heard of the server since then.
  const isLeftAlone = (meta?.breaker?.open?.untilMs ?? 0) > nowMs;
  const judged = [
    judgeRivalNote(registration),
    judgeFreeze(registration),
    judgeMode(registration),
    judgeFreshness(facts, SILENT_AFTER_MS),
    judgeView(registration, facts),
    judgeToken(registration, facts),
    isLeftAlone ? judgeBreaker(facts) : undefined,
  ];
  const codes = judged.map((finding) => SHOWN[finding?.code ?? '']);
  const all = [
    summary.rebuilt === undefined ? undefined : 'rebuilt',
    ...codes,
    isSnapshotAwaited(details) ? 'awaiting-snapshot' : undefined,
  ] as const;
  return all
    .filter((code) => code !== undefined)
    .map((code) => ({ code, ...WORDS[code](summary) }));
}

/** Takeover was entered, and nothing is done before the snapshot that follows its probe. */
function isSnapshotAwaited({ registration, meta }: ClusterDetails): boolean {
  const { takeoverProbedAtMs, mode } = registration;
  return (
    mode === 'takeover' &&
    takeoverProbedAtMs !== undefined &&
    meta?.isComplete === true &&
    (meta.announcedAtMs ?? 0) < takeoverProbedAtMs
  );
}
