/**
 * What one run found out about an API server, from its own requests (L3).
 *
 * A refusal, a conflict and a 404 come from a server that is alive; no connection, a time-out, a 5xx and garbage do
 * not. A wish to be left alone (429, Retry-After) is back-pressure, which slows and opens nothing. A run whose server
 * stopped answering gives up.
 */
import type { Finding, NotedTrouble } from '../../core/model/breaker.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { createBackPressure, type BackPressure } from '@rollcall/base/wait.ts';
import type { Outcome } from '../../core/model/effects.ts';
import { isPastDeadline } from '../../core/pod/request-life.ts';
import type { ClusterAccess, LiveRead } from '../../ports/cluster/cluster-access.ts';

export type Talk = 'answered' | 'failed' | 'neutral';

/** A failing call of this length was a time-out: nothing else takes as long. */
const HANG_MS = 2_000;
/** Failing calls in a row, none answered between, after which a run asks no more. */
const FAILURES_MAX = 3;
/** A run that spends longer in requests holds its place for too long, whatever they answer. */
const SLOW_MS = 5_000;

/** The talk of one run; shared by all its attempts. */
export class TalkTally {
  readonly #clock: Clock;
  #answered = 0;
  #failuresInRow = 0;
  #hasHung = false;
  #spentMs = 0;
  /** Calls under way, and since when there are any: what goes side by side takes its time once. */
  #underWay = 0;
  #sinceMs = 0;
  readonly #pressure: BackPressure;
  /** What an operator has to mend. */
  readonly met = new Set<NotedTrouble>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#pressure = createBackPressure(clock);
  }

  /** True once asking on would only cost the time that other clusters wait for. */
  get hasGivenUp(): boolean {
    return this.#hasHung || this.#failuresInRow >= FAILURES_MAX;
  }

  get isSlow(): boolean {
    return this.#spentMs >= SLOW_MS;
  }

  /** For how long the API server asked to be left alone, from now on; 0: it did not, or that is over. */
  get askedMs(): number {
    return this.#pressure.remainingMs();
  }

  /** What an answer shows that cannot be used: a wish to be left alone, which is noted, is no failure. */
  judgeUnusable({ retryAfterMs }: { readonly retryAfterMs?: number }): Talk {
    this.#pressure.note(retryAfterMs);
    return retryAfterMs === undefined ? 'failed' : 'neutral';
  }

  async measure<T>(call: () => Promise<T>, judge: (answer: T) => Talk): Promise<T> {
    const startedMs = this.#clock.monotonicMs();
    if (this.#underWay === 0) this.#sinceMs = startedMs;
    this.#underWay += 1;
    const answer = await call().finally(() => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#spentMs += this.#clock.monotonicMs() - this.#sinceMs;
    });
    const tookMs = this.#clock.monotonicMs() - startedMs;
    const talk = judge(answer);
    if (talk === 'answered') {
      this.#answered += 1;
      this.#failuresInRow = 0;
    }
    if (talk === 'failed') {
      this.#failuresInRow += 1;
      this.#hasHung ||= tookMs >= HANG_MS;
    }
    return answer;
  }

  /**
   * What it comes to. Some failures among answers are a server that is alive (row 12); a time-out at the
   * end, or no answer at all, is not.
   */
  get kind(): Finding['kind'] {
    if (this.#hasHung) return 'failed';
    if (this.#answered > 0) return 'answered';
    return this.#failuresInRow > 0 ? 'failed' : 'silent';
  }
}

const GIVEN_UP = 'the API server stopped answering; this run asks no more';

/** Judges every call, and makes none once the run gave up: that answers as one certainly not sent. */
export function talliedAccess(
  access: ClusterAccess,
  { tally, clock }: { readonly tally: TalkTally; readonly clock: Clock },
): ClusterAccess {
  const read = <T>(call: () => Promise<LiveRead<T>>): Promise<LiveRead<T>> =>
    tally.hasGivenUp
      ? Promise.resolve({ kind: 'unavailable', message: GIVEN_UP, isRefused: false })
      : tally.measure(call, (answer) => judgeRead(answer, tally));
  return {
    get answerTimes() {
      return access.answerTimes;
    },
    getDaemonSet: (...query) => read(() => access.getDaemonSet(...query)),
    readDaemonSetManagers: (key) => read(() => access.readDaemonSetManagers(key)),
    getPod: (key) => read(() => access.getPod(key)),
    getNode: (name) => read(() => access.getNode(name)),
    getRevision: (key) => read(() => access.getRevision(key)),
    getTemplateCopy: (key) => read(() => access.getTemplateCopy(key)),
    getWatcherLease: () => read(() => access.getWatcherLease()),
    listPodMetadata: (...query) => read(() => access.listPodMetadata(...query)),
    listPods: (...query) => read(() => access.listPods(...query)),
    listPodEvents: (...query) => read(() => access.listPodEvents(...query)),
    listRevisions: (...query) => read(() => access.listRevisions(...query)),
    requestSnapshot: (requestId) => read(() => access.requestSnapshot(requestId)),
    execute: (effects, options) => {
      if (tally.hasGivenUp) {
        return Promise.resolve(effects.map((): Outcome => ({ kind: 'unsent', message: GIVEN_UP })));
      }
      return tally.measure(
        () => access.execute(effects, options),
        (outcomes) => {
          for (const each of outcomes) {
            // A quota or a webhook is its tenant's; a right is the operator's.
            if (each.kind === 'refused' && each.code === 'forbidden') tally.met.add('forbidden');
          }
          const isLate = isPastDeadline(options, timesOf(clock));
          return talkOf(outcomes.map((outcome) => judgeOutcome(outcome, tally, isLate)));
        },
      );
    },
    applyDaemonSet: (manifest, options) => {
      if (tally.hasGivenUp) return Promise.resolve({ kind: 'unavailable', message: GIVEN_UP });
      return tally.measure(
        () => access.applyDaemonSet(manifest, options),
        (outcome) => {
          if (outcome.kind !== 'unavailable') return 'answered';
          const talk = tally.judgeUnusable(outcome);
          if (outcome.isAnswered === true) return 'answered';
          return isPastDeadline(options, timesOf(clock)) ? 'neutral' : talk;
        },
      );
    },
  };
}

function timesOf(clock: Clock): { readonly monotonicMs: number; readonly wallMs: number } {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() };
}

function judgeRead(read: LiveRead<unknown>, tally: TalkTally): Talk {
  if (read.kind !== 'unavailable') return 'answered';
  const talk = tally.judgeUnusable(read);
  if (!read.isRefused) return talk;
  tally.met.add('forbidden');
  return 'answered';
}

/** A batch is answered if any of its effects was. */
function talkOf(talks: readonly Talk[]): Talk {
  if (talks.includes('answered')) return 'answered';
  return talks.includes('failed') ? 'failed' : 'neutral';
}

function judgeOutcome(outcome: Outcome, tally: TalkTally, isLate: boolean): Talk {
  switch (outcome.kind) {
    case 'ambiguous':
      return 'failed';
    case 'unsent': {
      const talk = tally.judgeUnusable(outcome);
      // Past the deadline nothing is sent, and nothing said of the server.
      return isLate ? 'neutral' : talk;
    }
    default:
      return 'answered';
  }
}
