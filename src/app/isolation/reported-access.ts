/**
 * A cluster's access that tells what an API server refused: a missing right is somebody's to mend (row 69).
 *
 * One line for each kind of request and code in an invocation, however many requests met it; a metric for each. Whoever
 * asked gets the same answer and decides as before. The line holds the API server's own words, which name the verb and
 * the resource; no body and no credential is in them (S11).
 */
import type { Effect, Outcome } from '../../core/model/effects.ts';
import type { ClusterAccess, LiveRead } from '../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

const DETAIL_CHARACTERS_MAX = 500;

/** Wraps an access with the sinks of one invocation. */
export function reportedAccess(
  access: ClusterAccess,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): ClusterAccess {
  const told = new Set<string>();
  const tell = (kind: string, code: string, message: string): void => {
    metrics.count('ClusterRefusals', { outcome: code });
    if (told.has(`${kind} ${code}`)) return;
    told.add(`${kind} ${code}`);
    const detail = message.slice(0, DETAIL_CHARACTERS_MAX);
    log.warn('the API server refused a request', { kind, code, detail });
  };
  const read = async <T>(kind: string, asked: Promise<LiveRead<T>>): Promise<LiveRead<T>> => {
    const answer = await asked;
    if (answer.kind === 'unavailable' && answer.isRefused) tell(kind, 'read', answer.message);
    return answer;
  };
  return {
    getDaemonSet: (key) => read('get-daemon-set', access.getDaemonSet(key)),
    getPod: (key) => read('get-pod', access.getPod(key)),
    getNode: (name) => read('get-node', access.getNode(name)),
    getRevision: (key) => read('get-revision', access.getRevision(key)),
    getWatcherLease: () => read('get-lease', access.getWatcherLease()),
    listPodMetadata: (...query) => read('list-pods', access.listPodMetadata(...query)),
    listPods: (...query) => read('list-pods', access.listPods(...query)),
    listRevisions: (...query) => read('list-revisions', access.listRevisions(...query)),
    requestSnapshot: (requestId) => read('request-snapshot', access.requestSnapshot(requestId)),
    execute: async (effects, options) => {
      const outcomes = await access.execute(effects, options);
      effects.forEach((effect, index) => {
        tellOutcome(effect, outcomes[index], tell);
      });
      return outcomes;
    },
  };
}

function tellOutcome(
  effect: Effect,
  outcome: Outcome | undefined,
  tell: (kind: string, code: string, message: string) => void,
): void {
  if (outcome?.kind === 'refused') tell(effect.kind, outcome.code, outcome.message);
}
