/**
 * What is wrong with a cluster as far as registry and view tell, and what to do about it.
 *
 * The checks are those of `cluster doctor` (src/app/checks), over what can be read without asking the
 * cluster; here their codes are put into the words of `cluster show`. Codes are in docs/cli.md.
 */
import type { Facts } from '../../../app/checks/needs.ts';
import { checksOf, judgeAll } from '../../../app/checks/table.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import { SILENT_AFTER_MS } from '../../../core/status/outages.ts';
import type { ClusterSummary } from './cluster-summary.ts';

/** What `cluster show` puts into words of its own. */
interface ShownFinding {
  /** Codes of the checks that say it; absent: it is found here. */
  readonly from?: readonly string[];
  readonly words: (summary: ClusterSummary) => Words;
}

interface Words {
  readonly message: string;
  readonly remedy: string;
}

const RENEWER =
  'Look at the renewer: kubectl -n rollcall-system get cronjob,job -l app.kubernetes.io/part-of=rollcall';

/** The gravest first. */
const SHOWN = {
  rebuilt: {
    words: ({ id, rebuilt }) => ({
      message: `Its watcher speaks of another cluster, ${rebuilt?.foundUid ?? ''}: it was rebuilt. Nothing is written there.`,
      remedy: `Register it anew: rollcall cluster reset ${id}. If it was not rebuilt, take its role away from the other cluster.`,
    }),
  },
  rival: {
    words: ({ id, rival }) => ({
      message: `Another controller works on its DaemonSets; Rollcall has stopped there. ${rival?.evidence ?? ''}`,
      remedy: `Switch that one off, then: rollcall cluster set ${id} --mode takeover. Or leave: --mode observe.`,
    }),
  },
  frozen: {
    from: ['frozen'],
    words: ({ id }) => ({
      message: 'The cluster is frozen: nothing is created or deleted there.',
      remedy: `To go on: rollcall thaw --cluster ${id}`,
    }),
  },
  'no-credential': {
    from: ['mode-without-credential'],
    words: ({ id, mode }) => ({
      message: `It is in ${mode}, but the functions have no credential for it.`,
      remedy: `rollcall cluster set ${id} --eks-cluster … --eks-region …, or --renewer-role-id …`,
    }),
  },
  'never-heard': {
    from: ['never-heard'],
    words: ({ id }) => ({
      message: 'Its watcher was never heard.',
      remedy: `Install it (rollcall cluster add prints how), or look why it cannot send: rollcall cluster doctor ${id}`,
    }),
  },
  silent: {
    words: ({ id }) => ({
      message: 'Its watcher has been silent for longer than its longest heartbeat.',
      remedy: `Look at it (kubectl -n rollcall-system get pods, logs), or: rollcall cluster doctor ${id}`,
    }),
  },
  'view-incomplete': {
    from: ['view-incomplete', 'view-stuck'],
    words: ({ incompleteReason = 'no snapshot yet' }) => ({
      message: `The view of the cluster is not whole (${incompleteReason}); nothing is created or deleted on it.`,
      remedy:
        'The watcher is asked for a snapshot by itself, within minutes; if it stays so: doctor.',
    }),
  },
  'token-missing': {
    from: ['credential-missing'],
    words: () => ({ message: 'No token was sent yet.', remedy: RENEWER }),
  },
  'token-of-another-cluster': {
    from: ['credential-other-cluster'],
    words: () => ({
      message: 'The token that was sent last belongs to another cluster UID.',
      remedy: RENEWER,
    }),
  },
  'token-expired': {
    from: ['credential-expired'],
    words: () => ({ message: 'The token has expired.', remedy: RENEWER }),
  },
  'breaker-open': {
    from: ['breaker-open'],
    words: ({ id }) => ({
      message: 'Its API server did not answer lately and is left alone for a while.',
      remedy: `It is tried again by itself; to see why: rollcall cluster doctor ${id}`,
    }),
  },
  'awaiting-snapshot': {
    words: () => ({
      message: 'Takeover was entered; the snapshot after its probe is awaited.',
      remedy: 'It comes by itself, within minutes.',
    }),
  },
} as const satisfies Readonly<Record<string, ShownFinding>>;

/** What kind of thing is wrong. */
export type ShownCode = keyof typeof SHOWN;

/** One thing that is wrong, and what to do next. */
export interface Shown extends Words {
  readonly code: ShownCode;
}

/** Finds what is wrong, the gravest first. `meta` undefined: nothing was ever heard of the cluster. */
export function diagnose(
  summary: ClusterSummary,
  known: {
    readonly registration: ClusterRegistration;
    readonly meta: ClusterMeta | undefined;
    readonly facts: Facts;
  },
): readonly Shown[] {
  const { registration, meta, facts } = known;
  const judged = new Set(judgeAll(checksOf('cluster'), facts).map(({ code }) => code));
  // The doctor also names a breaker whose time is over, since nothing was heard of the server since then.
  if ((meta?.breaker?.open?.untilMs ?? 0) <= facts.nowMs) judged.delete('breaker-open');
  const here = new Set<ShownCode>();
  if (summary.rebuilt !== undefined) here.add('rebuilt');
  if (summary.rival !== undefined) here.add('rival');
  if ((summary.silentForMs ?? 0) > SILENT_AFTER_MS) here.add('silent');
  if (isSnapshotAwaited(registration, meta)) here.add('awaiting-snapshot');
  return Object.entries<ShownFinding>(SHOWN).flatMap(([key, { from = [], words }]) => {
    const code = key as ShownCode;
    const isFound = here.has(code) || from.some((one) => judged.has(one));
    return isFound ? [{ code, ...words(summary) }] : [];
  });
}

/** Takeover was entered, and nothing is done before the snapshot that follows its probe. */
function isSnapshotAwaited(
  { takeoverProbedAtMs, mode }: ClusterRegistration,
  meta: ClusterMeta | undefined,
): boolean {
  return (
    mode === 'takeover' &&
    takeoverProbedAtMs !== undefined &&
    meta?.isComplete === true &&
    (meta.announcedAtMs ?? 0) < takeoverProbedAtMs
  );
}
