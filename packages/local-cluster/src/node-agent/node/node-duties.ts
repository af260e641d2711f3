/**
 * The duties of the agent towards its node (spec node-agent 9), connected: registration, then the Lease, then the
 * status; eviction under pressure beside them.
 *
 * The order is that of `start`: the first status is written before any pod is taken, so that what admission reads of
 * the node is its own report. `stop` at any time ends all of it and writes nothing more. Each duty is a module of its
 * own; the graceful shutdown of a node is shutdown.ts's matter.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { AdmissionNode } from './admission.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import { createEvictionManager } from './eviction.ts';
import type { EvictionManager } from './eviction.ts';
import { startLease } from './lease.ts';
import { nodeConditions } from './node-conditions.ts';
import type { NodeConditionType, NodeHealth } from './node-conditions.ts';
import { nodeReference } from './node-reference.ts';
import { recordNodeChanges, startNodeStatus } from './node-status.ts';
import type { NodeStatusReporter } from './node-status.ts';
import { observeOwnNode } from './own-node.ts';
import { registerNode } from './register-node.ts';

/** The duties. */
export interface NodeDuties {
  /** Registers, makes the Lease, writes the first status. False when stopped before. */
  readonly start: () => Promise<boolean>;
  /** The node's health may have changed. */
  readonly syncStatus: () => void;
  readonly node: () => AdmissionNode;
  readonly pressures: () => readonly NodeConditionType[];
  readonly idle: () => Promise<void>;
  readonly stop: Cancel;
}

/** What the duties need of the pods' stages. */
export interface NodeDutiesOptions {
  readonly agent: AgentContext;
  readonly workers: Pick<PodWorkers, 'update'>;
  readonly activePods: () => readonly PodObject[];
  /** What keeps the node from being ready. */
  readonly errors: () => readonly string[];
}

/** Nothing is written before `start`. */
export function createNodeDuties(options: NodeDutiesOptions): NodeDuties {
  const { agent } = options;
  const stops: Cancel[] = [];
  let isStopped = false;
  let reporter: NodeStatusReporter | undefined;

  const ownNode = observeOwnNode(agent, () => {
    eviction.sync();
  });
  const eviction: EvictionManager = createEvictionManager({
    context: agent,
    workers: options.workers,
    asked: () => ownNode.askedPressures(),
    activePods: options.activePods,
    onChange: () => reporter?.sync(),
  });
  const health = (): NodeHealth => ({
    pressures: eviction.pressures(),
    errors: options.errors(),
  });
  return {
    start: async () => {
      const conditions = nodeConditions(health(), [], formatTime(agent.clock.nowMs()));
      const node = await registerNode(agent, conditions, () => isStopped);
      if (node === undefined || isStopped) return false;
      ownNode.put(node);
      const about = nodeReference(agent.machine.name);
      agent.record({ about, type: 'Normal', reason: 'Starting', message: 'Starting kubelet.' });
      recordNodeChanges(agent, [], conditions);
      stops.push(await startLease(agent, node));
      reporter = startNodeStatus(agent, ownNode, health);
      await reporter.idle();
      return !isStopped;
    },
    syncStatus: () => reporter?.sync(),
    node: () => ownNode.forAdmission(),
    pressures: () => eviction.pressures(),
    idle: async () => {
      await reporter?.idle();
    },
    stop: () => {
      isStopped = true;
      for (const stop of stops) stop();
      reporter?.stop();
      eviction.stop();
      ownNode.stop();
    },
  };
}
