/**
 * The machines of a local cluster, each with its runtime and its node agent.
 *
 * Machines follow Node objects: a Node that appears without a machine gets one, a Node that is deleted loses its
 * machine with everything that ran there, as when a cloud takes it back; an annotation cuts a machine's power,
 * and it boots again when the annotation goes. A pod that has its kernel panic makes the machine set that annotation itself. Machines that are given boot once, at the very first start;
 * afterwards the Node objects say which there are. Invariant: at most one machine runs for a node name.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ClientFactory, LocalClient } from '../client/local-client.ts';
import { startNodeAgent } from '../node-agent/start-node-agent.ts';
import type { NodeAgent } from '../node-agent/start-node-agent.ts';
import { createSimulatedRuntime } from '../runtime/simulated-runtime.ts';
import type { ApiLoad } from '../runtime/surroundings.ts';
import { POWER_ANNOTATION, isSwitchedOff, machineOfNode } from '../machines/machine.ts';
import type { MachineSpec } from '../machines/machine.ts';

/** What a fleet needs. */
export interface FleetOptions {
  readonly clients: ClientFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** What pods ask of the API server's speed; absent: no pod does. */
  readonly apiLoad?: ApiLoad;
}

/** The running machines. */
export interface Fleet {
  /** Boots machines that have no Node yet; resolves when all have registered. */
  readonly boot: (machines: readonly MachineSpec[]) => Promise<void>;
  /** Ends all agents; what they began is finished. */
  readonly stop: () => Promise<void>;
}

/** Starts machines for the Nodes that exist, and follows them from then on. */
export function startFleet(options: FleetOptions): Fleet {
  const { clients, clock, random, log, apiLoad } = options;
  const agents = new Map<string, NodeAgent>();
  const own = clients.clientFor({ name: 'system:machines', groups: ['system:masters'] });

  const start = (machine: MachineSpec): NodeAgent => {
    const agent = startNodeAgent({
      machine,
      client: nodeClient(clients, machine.name),
      runtime: createSimulatedRuntime({
        machine,
        clock,
        random,
        onPanic: () => {
          switchOff(machine.name, own, log);
        },
        ...(apiLoad === undefined ? {} : { apiLoad }),
      }),
      clock,
      random,
      log: log.with({ node: machine.name }),
    });
    agents.set(machine.name, agent);
    return agent;
  };

  /** Makes the machine what its Node asks for now. */
  const follow = (name: string): void => {
    const node = observation.get(name);
    const agent = agents.get(name);
    const isOff = node === undefined || isSwitchedOff(node);
    if (isOff) {
      agent?.powerOff();
      agents.delete(name);
    } else if (agent === undefined) {
      start(machineOfNode(node));
    }
  };

  const observation = own.observe({ resource: 'nodes' }, ({ object }) => {
    follow(object.metadata.name);
  });

  return {
    boot: async (machines) => {
      await Promise.all(machines.map((machine) => start(machine).ready));
    },
    stop: async () => {
      observation.stop();
      await Promise.all([...agents.values()].map((agent) => agent.stop()));
      // Timers of what still ran would keep the process alive.
      for (const agent of agents.values()) agent.powerOff();
      agents.clear();
    },
  };
}

/** The machine stays off until a user takes the annotation away: a kernel that panics at once would boot for ever. */
function switchOff(name: string, own: LocalClient, log: Log): void {
  log.warn('the kernel of a machine panicked, as a pod asked', { node: name });
  const body = { metadata: { annotations: { [POWER_ANNOTATION]: 'off' } } };
  own.patch({ resource: 'nodes', name }, { type: 'merge', body }).then(
    (outcome) => {
      // Its Node is gone: it loses the machine anyway.
      if (outcome.kind === 'refused') log.debug('no Node to switch off', { node: name });
    },
    (error: unknown) => {
      log.error('a machine that panicked was not switched off', { node: name }, error);
    },
  );
}

/** A node's own user, as the API server names it in events and the audit log. */
function nodeClient(clients: ClientFactory, nodeName: string): LocalClient {
  return clients.clientFor({
    name: `system:node:${nodeName}`,
    groups: ['system:nodes', 'system:authenticated', 'system:masters'],
  });
}
