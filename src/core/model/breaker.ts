/**
 * The circuit breaker of one cluster: whether its API server is worth a request now (L3, row 61).
 *
 *   closed ──three failing runs in a row──▶ open ──due──▶ half-open (one probe) ──answered──▶ closed
 *                                            ▲                   └──failed──▶ open, for longer
 *
 * Counted by cluster: one that hangs costs a few time-outs, however many keys it has. While on parole after
 * closing, one failing run opens it again with the former back-off. Efficiency only: lost, unreadable or stale it
 * counts as closed, and no promise but L3 rests on it. Times are bounded on both sides, so that no clock keeps it
 * open for longer than `openMaxMs`. Pure: the caller stores what changes, by compare-and-set.
 */

/** Troubles that an operator has to mend in a cluster, and that say nothing of the state of its API server. */
export type NotedTrouble = 'forbidden' | 'no-token' | 'egress-refused';

/** When it was met first, and last (about): without it for half an hour, it begins anew. */
export interface TroubleNote {
  readonly sinceMs: number;
  readonly atMs: number;
}

/** A cluster's breaker as it is stored, beside META. Absent: closed, and nothing remembered. */
export interface ClusterBreaker {
  /** Compare-and-set counter; 0 means: nothing stored yet. */
  readonly version: number;
  /** Runs in a row whose API server did not answer, while closed. */
  readonly failures: number;
  /** Openings since the cluster was last calm: the exponent of the back-off. */
  readonly openings: number;
  /** Present while not closed: the moment from which one probe is admitted. */
  readonly open?: { readonly untilMs: number; readonly delayMs: number };
  /** Present while a probe is under way: no other run is admitted until then, and a crashed probe blocks no longer. */
  readonly probeUntilMs?: number;
  /** When it closed last: until `calmMs` later it is on parole. */
  readonly closedAtMs?: number;
  /** A run spent long in requests that succeeded: the cluster is slow until then. */
  readonly slowUntilMs?: number;
  /** Troubles that alarm once they last (core/hints/cluster-troubles.ts); no admission rests on them. */
  readonly noted?: Readonly<Partial<Record<NotedTrouble, TroubleNote>>>;
}

/** The published bounds (docs/adr/0019). */
export const breakerPolicy = {
  /** Failing runs in a row that open it. */
  failuresToOpen: 3,
  openFirstMs: 2_000,
  openMaxMs: 30_000,
  /** How long a probe may take before another may go: longer than a function lives. */
  probeMs: 30_000,
  /** The time after closing in which one failure opens it again. */
  calmMs: 120_000,
  /** How long a slow run makes the cluster count as slow. */
  slowForMs: 60_000,
  /** A trouble that goes on is noted again after this: one write. */
  noteEveryMs: 300_000,
  /** Not met for so long, a trouble is over: keys are tried again within five minutes. */
  noteEndsMs: 1_800_000,
};

/** Closed, with nothing remembered: also what a lost breaker counts as. */
export const CLOSED_BREAKER: ClusterBreaker = { version: 0, failures: 0, openings: 0 };

/** Share by which an opening is varied, up or down. */
const JITTER = 0.2;
const LONGEST_OPEN_MS = Math.ceil(breakerPolicy.openMaxMs * (1 + JITTER));

/** Whether a run may talk to the API server. */
export type Admission =
  | { readonly kind: 'admitted' }
  /** It may, as the probe, if it is first to store `next`. */
  | { readonly kind: 'probe'; readonly next: ClusterBreaker }
  /** It may not; the first moment at which it is worth asking again. */
  | { readonly kind: 'refused'; readonly untilMs: number };

/** Decides whether a run may talk to the API server. */
export function admitRun(breaker: ClusterBreaker, nowMs: number): Admission {
  const { open, probeUntilMs } = breaker;
  if (open === undefined) return { kind: 'admitted' };
  if (isAhead(open.untilMs, nowMs, LONGEST_OPEN_MS)) {
    return { kind: 'refused', untilMs: open.untilMs };
  }
  if (isAhead(probeUntilMs, nowMs, breakerPolicy.probeMs)) {
    // A probe says yes or no long before its lease ends.
    return { kind: 'refused', untilMs: Math.min(probeUntilMs, nowMs + breakerPolicy.openFirstMs) };
  }
  return { kind: 'probe', next: { ...breaker, probeUntilMs: nowMs + breakerPolicy.probeMs } };
}

/** A run's finding about an API server. */
export interface Finding {
  /** `silent`: it sent no request, or was only asked to wait. */
  readonly kind: 'answered' | 'failed' | 'silent';
  readonly isProbe: boolean;
  /** True if it spent long in requests: it may have succeeded all the same. */
  readonly isSlow: boolean;
  readonly nowMs: number;
  /** In [0, 1): spreads openings. */
  readonly random: number;
  readonly met: ReadonlySet<NotedTrouble>;
}

/** The breaker after a run; undefined when nothing changed and nothing is to be stored. */
export function noteFinding(breaker: ClusterBreaker, finding: Finding): ClusterBreaker | undefined {
  const moved = transition(breaker, finding);
  const noted = notesAfter(breaker.noted, finding);
  const changed = noted === undefined ? moved : { ...(moved ?? breaker), noted };
  const isMarked = isAhead(
    breaker.slowUntilMs,
    finding.nowMs + breakerPolicy.slowForMs / 2,
    Infinity,
  );
  if (!finding.isSlow || isMarked) return changed;
  return { ...(changed ?? breaker), slowUntilMs: finding.nowMs + breakerPolicy.slowForMs };
}

/** The notes after a run; undefined while what it met is noted well enough. */
function notesAfter(
  former: ClusterBreaker['noted'] = {},
  { met, nowMs }: Finding,
): ClusterBreaker['noted'] | undefined {
  const isFresh = (kind: NotedTrouble): boolean =>
    Math.abs(nowMs - (former[kind]?.atMs ?? -Infinity)) < breakerPolicy.noteEveryMs;
  const due = [...met].filter((kind) => !isFresh(kind));
  if (due.length === 0) return undefined;
  const notes = due.map((kind) => {
    const note = former[kind];
    const sinceMs = note !== undefined && isStanding(note, nowMs) ? note.sinceMs : nowMs;
    return [kind, { sinceMs, atMs: nowMs }] as const;
  });
  return { ...former, ...Object.fromEntries(notes) };
}

function isStanding({ atMs }: TroubleNote, nowMs: number): boolean {
  return Math.abs(nowMs - atMs) <= breakerPolicy.noteEndsMs;
}

/** Met again after so long it is no hiccup; where an endpoint may not lead, it never is one (S12). */
const LASTS_MS: Readonly<Record<NotedTrouble, number>> = {
  'egress-refused': 0,
  'no-token': 600_000,
  forbidden: 600_000,
};

/** Noted troubles that have stood for long enough that an operator should look. */
export function lastingTroubles(
  { noted = {} }: ClusterBreaker,
  nowMs: number,
): readonly NotedTrouble[] {
  return (Object.keys(LASTS_MS) as NotedTrouble[]).filter((kind) => {
    const note = noted[kind];
    if (note === undefined || !isStanding(note, nowMs)) return false;
    return note.atMs - note.sinceMs >= LASTS_MS[kind];
  });
}

/** An opening that was due so long ago no longer matters. */
const FORGOTTEN_MS = 3_600_000;

/** True while the API server does not answer, or has answered only just now. */
export function isNotCalm(breaker: ClusterBreaker, nowMs: number): boolean {
  const { open } = breaker;
  return open === undefined ? isOnParole(breaker, nowMs) : nowMs - open.untilMs < FORGOTTEN_MS;
}

function transition(breaker: ClusterBreaker, finding: Finding): ClusterBreaker | undefined {
  if (breaker.open !== undefined) {
    // A run that was admitted before the breaker opened reports too late: only the probe decides.
    return finding.isProbe ? afterProbe(breaker, finding) : undefined;
  }
  if (finding.kind === 'failed') return afterFailure(breaker, finding);
  if (finding.kind === 'silent' || breaker.failures === 0) return undefined;
  return { ...breaker, failures: 0 };
}

function afterProbe(breaker: ClusterBreaker, finding: Finding): ClusterBreaker {
  const { probeUntilMs: _probe, open: _open, ...rest } = breaker;
  switch (finding.kind) {
    case 'answered':
      return { ...rest, failures: 0, closedAtMs: finding.nowMs };
    case 'failed':
      return opened(rest, finding);
    case 'silent': {
      // It had no question after all: the next one may probe.
      const { open } = breaker;
      return open === undefined ? rest : { ...rest, open };
    }
  }
}

function afterFailure(breaker: ClusterBreaker, finding: Finding): ClusterBreaker {
  const isParole = isOnParole(breaker, finding.nowMs);
  const failures = breaker.failures + 1;
  if (!isParole && failures < breakerPolicy.failuresToOpen) return { ...breaker, failures };
  return opened(isParole ? breaker : { ...breaker, openings: 0 }, finding);
}

function opened(breaker: ClusterBreaker, { nowMs, random }: Finding): ClusterBreaker {
  const { openFirstMs, openMaxMs } = breakerPolicy;
  // Beyond 2^30 the cap is long reached; the counter itself may grow on.
  const delayMs = Math.min(openMaxMs, openFirstMs * 2 ** Math.min(breaker.openings, 30));
  const varied = Math.round(delayMs * (1 - JITTER + 2 * JITTER * random));
  const { closedAtMs: _closed, ...rest } = breaker;
  return {
    ...rest,
    failures: 0,
    openings: breaker.openings + 1,
    open: { untilMs: nowMs + varied, delayMs },
  };
}

/**
 * True if the cluster should not have many runs at once: it fails, was open lately, or is slow. Its
 * hints then go through few lanes (queue-ids.ts).
 */
export function isSuspect(breaker: ClusterBreaker | undefined, nowMs: number): boolean {
  if (breaker === undefined) return false;
  if (breaker.open !== undefined || breaker.failures > 0) return true;
  if (isAhead(breaker.slowUntilMs, nowMs, breakerPolicy.slowForMs)) return true;
  return isOnParole(breaker, nowMs);
}

/** True while no request should be sent except a probe: for those who never probe (resync, ingest). */
export function isOpen(breaker: ClusterBreaker | undefined, nowMs: number): boolean {
  return breaker !== undefined && admitRun(breaker, nowMs).kind === 'refused';
}

function isOnParole({ closedAtMs }: ClusterBreaker, nowMs: number): boolean {
  return (
    closedAtMs !== undefined &&
    isAhead(closedAtMs + breakerPolicy.calmMs, nowMs, breakerPolicy.calmMs)
  );
}

/** True if the moment lies ahead, and no further than was ever meant: beyond that a clock was off. */
function isAhead(atMs: number | undefined, nowMs: number, withinMs: number): atMs is number {
  return atMs !== undefined && atMs > nowMs && atMs - nowMs <= withinMs;
}
