/**
 * The duties of the agent towards its node, connected: registration, then the Lease, then the status.
 *
 * The first status is written before any pod is taken. `stop` at any time ends all of it and writes nothing more.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { startLease } from './lease.ts';
import { nodeConditions, nodeReference, recordReadiness, startNodeStatus } from './node-status.ts';
import type { NodeStatusReporter } from './node-status.ts';
import { registerNode } from './register-node.ts';

/** The duties. */
export interface NodeDuties {
  /** Registers, makes the Lease, writes the first status. False when stopped before. */
  readonly start: () => Promise<boolean>;
  /** The node's health may have changed. */
  readonly syncStatus: () => void;
  /** The Node as it is known now; undefined before it is registered, and after it was deleted. */
  readonly node: () => ApiObject | undefined;
  readonly idle: () => Promise<void>;
  readonly stop: Cancel;
}

/** Nothing is written before `start`; `errors` are what keeps the node from being ready. */
export function createNodeDuties(
  context: AgentContext,
  errors: () => readonly string[],
): NodeDuties {
  const { client, machine, clock, record } = context;
  const stops: Cancel[] = [];
  let isStopped = false;
  let reporter: NodeStatusReporter | undefined;
  let node: ApiObject | undefined;

  const selection = { resource: 'nodes', fieldSelector: `metadata.name=${machine.name}` } as const;
  const observation = client.observe(selection, ({ type, object }) => {
    node = type === 'DELETED' ? undefined : object;
  });
  const onWritten = (written: ApiObject): void => {
    node = written;
  };
  return {
    start: async () => {
      const conditions = nodeConditions(errors(), [], formatTime(clock.nowMs()));
      const registered = await registerNode(context, conditions, () => isStopped);
      if (registered === undefined || hasStopped()) return false;
      node = registered;
      const about = nodeReference(machine.name);
      record({ about, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      recordReadiness(context, [], conditions);
      stops.push(await startLease(context, registered));
      reporter = startNodeStatus(context, { node: () => node, onWritten, errors });
      await reporter.idle();
      return !hasStopped();
    },
    syncStatus: () => reporter?.sync(),
    node: () => node,
    idle: async () => {
      await reporter?.idle();
    },
    stop: () => {
      isStopped = true;
      for (const stop of stops) stop();
      reporter?.stop();
      observation.stop();
    },
  };

  /** Asked anew after each wait. */
  function hasStopped(): boolean {
    return isStopped;
  }
}
