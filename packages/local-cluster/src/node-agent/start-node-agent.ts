/**
 * Boots the node agent of one machine: the kubelet of the local cluster (spec node-agent).
 *
 * It talks to the API as any node would, and to containers through the runtime's CRI verbs. `stop` leaves the containers
 * running, as a kubelet that is restarted does; `powerOff` is the machine's end: nothing is written any more, containers
 * included.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { MachineSpec } from '../machines/machine.ts';
import { nodeAddress } from '../runtime/addresses.ts';
import type { ContainerRuntime } from '../runtime/cri.ts';
import { createPodRuntime } from './containers/pod-runtime.ts';
import { createProbeManager } from './containers/probes/probe-manager.ts';
import { createEventRecorder } from './shared/event-recorder.ts';
import { createPowerSwitch } from './power-switch.ts';
import { runAgent } from './run-agent.ts';
import { DEFAULT_SETTINGS } from './shared/settings.ts';
import type { NodeAgentSettings } from './shared/settings.ts';

/** What a node agent is made from. */
export interface NodeAgentOptions {
  readonly machine: MachineSpec;
  readonly client: LocalClient;
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where it differs from the kubelet's defaults. */
  readonly settings?: Partial<NodeAgentSettings>;
}

/** A running node agent. */
export interface NodeAgent {
  /** The node is registered, its Lease and first status are written. */
  readonly ready: Promise<void>;
  /** Ends the agent, not its containers; resolves when what is being written has been. */
  stop(): Promise<void>;
  /** Graceful node shutdown: ends pods by priority within this time; the node is not ready from then on. */
  shutDown(input: { readonly graceSeconds: number }): Promise<void>;
  /** The machine is gone: nothing more is written, everything that ran there ends. */
  powerOff(): void;
}

/** Boots the agent; it runs until stopped. */
export function startNodeAgent(options: NodeAgentOptions): NodeAgent {
  const { machine, runtime, random, log } = options;
  const power = createPowerSwitch(options.clock, options.client);
  const { clock, client } = power;
  const record = createEventRecorder({
    client,
    component: 'kubelet',
    host: machine.name,
    clock,
    log,
  });
  const agent = runAgent(
    {
      machine,
      client,
      clock,
      random,
      log,
      record,
      settings: { ...DEFAULT_SETTINGS, ...options.settings },
      hostIp: nodeAddress(machine.name),
      bootId: runtime.bootId,
    },
    {
      runtime,
      podRuntime: createPodRuntime({ runtime, clock, random, record, log }),
      probes: createProbeManager({ runtime, clock, random, record, log }),
    },
  );
  return {
    ready: agent.ready,
    stop: async () => {
      power.stopTimers();
      await agent.stop();
    },
    shutDown: ({ graceSeconds }) => agent.shutDown(graceSeconds),
    powerOff: () => {
      power.cutPower();
      runtime.powerOff();
      void agent.stop();
    },
  };
}
