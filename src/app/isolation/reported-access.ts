/**
 * A cluster's access that reports refusals of the API server: an operator has to mend a missing right (row 69).
 *
 * One line for each kind of request and code in an invocation, however many requests met it; a metric for each. Whoever
 * asked gets the same answer and decides as before. The line holds the API server's own words, which name the verb and
 * the resource; no body and no credential is in them (S11).
 */
import type {
  ClusterAccess,
  LiveRead,
  ClusterConnector,
  ConnectRefusal,
} from '../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../ports/process.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';

const DETAIL_CHARACTERS_MAX = 500;

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
    get answerTimes() {
      return access.answerTimes;
    },
    getDaemonSet: (...query) => read('get-daemon-set', access.getDaemonSet(...query)),
    readDaemonSetManagers: (key) => read('get-daemon-set', access.readDaemonSetManagers(key)),
    getPod: (key) => read('get-pod', access.getPod(key)),
    getNode: (name) => read('get-node', access.getNode(name)),
    getRevision: (key) => read('get-revision', access.getRevision(key)),
    getTemplateCopy: (key) => read('get-template-copy', access.getTemplateCopy(key)),
    getWatcherLease: () => read('get-lease', access.getWatcherLease()),
    listPodMetadata: (...query) => read('list-pods', access.listPodMetadata(...query)),
    listPods: (...query) => read('list-pods', access.listPods(...query)),
    listPodEvents: (...query) => read('list-events', access.listPodEvents(...query)),
    listRevisions: (...query) => read('list-revisions', access.listRevisions(...query)),
    requestSnapshot: (requestId) => read('request-snapshot', access.requestSnapshot(requestId)),
    execute: async (effects, options) => {
      const outcomes = await access.execute(effects, options);
      for (const [index, { kind }] of effects.entries()) {
        const outcome = outcomes[index];
        if (outcome?.kind === 'refused') tell(kind, outcome.code, outcome.message);
      }
      return outcomes;
    },
    applyDaemonSet: async (manifest, options) => {
      const outcome = await access.applyDaemonSet(manifest, options);
      // What is wrong with one manifest is its fleet's to tell; a missing right is the cluster's.
      if (outcome.kind === 'refused' && outcome.status === 403) {
        tell('apply-daemon-set', 'forbidden', outcome.message);
      }
      return outcome;
    },
  };
}

/**
 * Wraps a connector with the sinks of one invocation: an endpoint that is not permitted, or a bound token that is
 * missing, is one line and one metric (S12). The line names field and reason, never an address or credential (S11).
 */
export function reportedConnector(
  connector: ClusterConnector,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): ClusterConnector {
  return {
    connect: async (registration) => {
      const connection = await connector.connect(registration);
      if (connection.kind === 'refused' && connection.refusal.kind === 'egress-refused') {
        const { field, reason } = connection.refusal;
        metrics.count('EgressRefusals', { outcome: reason });
        log.warn('endpoint not permitted', { cluster: registration.id, field, reason });
      }
      if (connection.kind === 'refused') {
        reportToken(registration, connection.refusal, { log, metrics });
        return connection;
      }
      const access = reportedAccess(connection.access, {
        log: log.with({ cluster: registration.id }),
        metrics,
      });
      return { kind: 'connected', access };
    },
    forget: (id) => {
      connector.forget(id);
    },
  };
}

function reportToken(
  { id: cluster }: ClusterRegistration,
  refusal: ConnectRefusal,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): void {
  const reason = tokenFaultOf(refusal);
  if (reason === undefined) return;
  metrics.count('TokenFaults', { outcome: reason });
  const detail = refusal.kind === 'unavailable' ? { detail: refusal.message } : {};
  log.warn('no usable token for the cluster', { cluster, reason, ...detail });
}

function tokenFaultOf(refusal: ConnectRefusal): string | undefined {
  if (refusal.kind === 'no-token') return refusal.fault;
  return refusal.kind === 'unavailable' ? refusal.token : undefined;
}
