/** A connector whose every request passes the gate of an invocation. */
import type { ClusterConnector } from '../../../src/ports/cluster-access.ts';
import type { Gate } from './gate.ts';

/** A connector whose accesses pass the gate as well. */
export function gatedConnector(connector: ClusterConnector, gate: Gate): ClusterConnector {
  return {
    connect: async (registration) => {
      const connection = await gate.around('connector', connector).connect(registration);
      if (connection.kind !== 'connected') return connection;
      return { kind: 'connected', access: gate.around('access', connection.access) };
    },
    forget: (id) => {
      connector.forget(id);
    },
  };
}
