/**
 * Boots the node agent of one machine: the kubelet of the local cluster (docs/spec/node-agent.md).
 *
 * It talks to the API as any node would, and to containers through the runtime's CRI verbs. `powerOff` is the machine's
 * end: nothing is written any more, containers included.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { MachineSpec } from '../machines/machine.ts';
import { nodeAddress } from '../runtime/pod-network.ts';
import type { ContainerRuntime } from '../runtime/cri.ts';
import { createProbeManager } from './containers/probes.ts';
import { createPodRuntime } from './containers/sync-containers.ts';
import { createPowerSwitch } from './power-switch.ts';
import { runAgent } from './run-agent.ts';
import { createEventRecorder } from './shared/event-recorder.ts';

/** What a node agent is made from. */
export interface NodeAgentOptions {
  readonly machine: MachineSpec;
  readonly client: LocalClient;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A running node agent. */
export interface NodeAgent {
  /** The node is registered, its Lease and first status are written. */
  readonly ready: Promise<void>;
  /** Ends the agent, not its containers; resolves when what is being written has been. */
  stop(): Promise<void>;
  /** The machine is gone: nothing more is written, everything that ran there ends. */
  powerOff(): void;
}

/** Boots the agent; it runs until stopped. */
export function startNodeAgent(options: NodeAgentOptions): NodeAgent {
  const { machine, runtime, random, log } = options;
  const power = createPowerSwitch(options.clock, options.client);
  const { clock, client } = power;
  const { name } = machine;
  const record = createEventRecorder({ client, component: 'kubelet', host: name, clock, log });
  const containers = { runtime, clock, record, log };
  const agent = runAgent(
    {
      machine,
      client,
      clock,
      random,
      log,
      record,
      hostIp: nodeAddress(name),
      bootId: runtime.bootId,
    },
    {
      runtime,
      podRuntime: createPodRuntime(containers),
      probes: createProbeManager(containers),
    },
  );
  return {
    ready: agent.ready,
    stop: async () => {
      power.stopTimers();
      await agent.stop();
    },
    powerOff: () => {
      power.cutPower();
      runtime.powerOff();
      void agent.stop();
    },
  };
}
