/**
 * A connector that tells when a registered endpoint is not permitted, or a bound token is missing: one log line,
 * one metric (S12); and whose accesses tell what an API server refused (reported-access.ts).
 *
 * Whoever asked gets the same refusal; this only makes sure that it is seen, whichever function met it.
 * The line names the field and the reason, never the address or a credential (S11).
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ClusterConnector, ConnectRefusal } from '../../ports/cluster/cluster-access.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { reportedAccess } from './reported-access.ts';

/** Wraps a connector with the sinks of one invocation. */
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
