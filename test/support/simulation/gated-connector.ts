/** A connector whose every request passes the gate of an invocation. */
import type { ClusterAccess, ClusterConnector } from '../../../src/ports/cluster/cluster-access.ts';
import type { StartLimits } from '../../../src/core/pod/request-life.ts';
import type { Gate } from './gate.ts';

export function gatedConnector(connector: ClusterConnector, gate: Gate): ClusterConnector {
  return {
    connect: async (registration) => {
      const connection = await gate.around('connector', connector).connect(registration);
      if (connection.kind !== 'connected') return connection;
      const access = gate.around('access', onOwnTime(connection.access, gate));
      return { kind: 'connected', access };
    },
    forget: (id) => {
      connector.forget(id);
    },
  };
}

/** Deadlines are told by the clocks of the invocation: the monotonic one stood still while it was frozen, that of the wall did not. */
function onOwnTime(access: ClusterAccess, gate: Gate): ClusterAccess {
  const outside = ({ deadlineMs, wallDeadlineMs }: StartLimits): StartLimits => {
    const own = gate.clock();
    const leftMs = Math.min(
      deadlineMs - own.monotonicMs(),
      (wallDeadlineMs ?? Infinity) - own.nowMs(),
    );
    return { deadlineMs: gate.outsideMs(own.monotonicMs() + leftMs) };
  };
  return new Proxy(access, {
    get: (target, property) => {
      const execute: ClusterAccess['execute'] = (effects, limits) =>
        target.execute(effects, outside(limits));
      const apply: ClusterAccess['applyDaemonSet'] = (manifest, options) => {
        const { wallDeadlineMs: _wall, ...rest } = options;
        return target.applyDaemonSet(manifest, { ...rest, ...outside(options) });
      };
      if (property === 'execute') return execute;
      if (property === 'applyDaemonSet') return apply;
      return Reflect.get(target, property) as unknown;
    },
  });
}
