/**
 * A cluster's access with a tally: every call is judged, and none is made once the run gave up.
 *
 * A call that is not made answers as one that was certainly not sent; whoever asked looks again later.
 */
import type { Outcome } from '../../core/model/effects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterAccess, LiveRead } from '../../ports/cluster/cluster-access.ts';
import type { Talk, TalkTally } from './talk-tally.ts';

const GIVEN_UP = 'the API server stopped answering; this run asks no more';

/** Wraps an access. */
export function talliedAccess(
  access: ClusterAccess,
  { tally, clock }: { readonly tally: TalkTally; readonly clock: Clock },
): ClusterAccess {
  const read = <T>(call: () => Promise<LiveRead<T>>): Promise<LiveRead<T>> =>
    tally.hasGivenUp
      ? Promise.resolve({ kind: 'unavailable', message: GIVEN_UP, isRefused: false })
      : tally.measure(call, (answer) => judgeRead(answer, tally));
  return {
    getDaemonSet: (key) => read(() => access.getDaemonSet(key)),
    getPod: (key) => read(() => access.getPod(key)),
    getNode: (name) => read(() => access.getNode(name)),
    getRevision: (key) => read(() => access.getRevision(key)),
    getWatcherLease: () => read(() => access.getWatcherLease()),
    listPodMetadata: (...query) => read(() => access.listPodMetadata(...query)),
    listPods: (...query) => read(() => access.listPods(...query)),
    listRevisions: (...query) => read(() => access.listRevisions(...query)),
    requestSnapshot: (requestId) => read(() => access.requestSnapshot(requestId)),
    execute: (effects, options) => {
      if (tally.hasGivenUp) {
        return Promise.resolve(effects.map((): Outcome => ({ kind: 'unsent', message: GIVEN_UP })));
      }
      return tally.measure(
        () => access.execute(effects, options),
        (outcomes) => {
          for (const each of outcomes)
            if (each.kind === 'unsent') tally.noteAsked(each.retryAfterMs);
          return judgeOutcomes(outcomes, clock.monotonicMs() >= options.deadlineMs);
        },
      );
    },
  };
}

/** What a read showed. */
function judgeRead(read: LiveRead<unknown>, tally: TalkTally): Talk {
  if (read.kind !== 'unavailable') return 'answered';
  tally.noteAsked(read.retryAfterMs);
  if (read.isRefused) return 'answered';
  return read.retryAfterMs === undefined ? 'failed' : 'neutral';
}

/** A batch is answered if any of its effects was. */
function judgeOutcomes(outcomes: readonly Outcome[], isLate: boolean): Talk {
  const talks = outcomes.map((outcome) => judgeOutcome(outcome, isLate));
  if (talks.includes('answered')) return 'answered';
  return talks.includes('failed') ? 'failed' : 'neutral';
}

function judgeOutcome(outcome: Outcome, isLate: boolean): Talk {
  switch (outcome.kind) {
    case 'ambiguous':
      return 'failed';
    case 'unsent':
      // Past the deadline nothing is sent, and nothing said of the server.
      return outcome.retryAfterMs !== undefined || isLate ? 'neutral' : 'failed';
    default:
      return 'answered';
  }
}
