/**
 * One machine with its node agent in a local world on virtual time: the real API, the real stages, and either a scripted
 * driver of the runtime or the real one over the simulated runtime.
 */
import type { LocalClient } from '../../src/client/local-client.ts';
import type { MachineSpec } from '../../src/machines/machine.ts';
import { createEventRecorder } from '../../src/node-agent/shared/event-recorder.ts';
import { runAgent } from '../../src/node-agent/run-agent.ts';
import type { RunningAgent } from '../../src/node-agent/run-agent.ts';
import type { PodObject, PodStatus } from '../../src/node-agent/shared/pod-object.ts';
import type { ApiObject } from '../../src/objects/api-object.ts';
import { createSimulatedRuntime } from '../../src/runtime/simulated-runtime.ts';
import type { ContainerRuntime } from '../../src/runtime/cri.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { podObject } from './objects.ts';
import { ScriptedPodRuntime, ScriptedProbes } from './scripted-pod-runtime.ts';
import { createLocalWorld } from './world.ts';
import type { LocalWorld } from './world.ts';

/** A machine as most tests want it. */
export const TEST_MACHINE: MachineSpec = {
  name: 'node-1',
  labels: { zone: 'a' },
  taints: [],
  capacity: { cpu: '2', memory: '4Gi', pods: '10', 'ephemeral-storage': '10Gi' },
  network: 'preinstalled',
  readiness: 'normal',
};

/** A write that the API answered: `PATCH pods/status p 200`. */
export type WriteLine = string;

/** The world of one agent with a scripted driver. */
export interface AgentWorld extends LocalWorld {
  readonly agent: RunningAgent;
  /** Starts another agent over the same runtime; the first must have been stopped. */
  readonly boot: () => RunningAgent;
  readonly runtime: ContainerRuntime;
  readonly podRuntime: ScriptedPodRuntime;
  readonly probes: ScriptedProbes;
  /** Writes about pods since the start, in order. */
  readonly podWrites: WriteLine[];
  /** All requests since the start, in order. */
  readonly requests: WriteLine[];
  /** Creates a pod that is bound to the machine. */
  readonly createPod: (name: string, of?: Parameters<typeof podObject>[1]) => Promise<PodObject>;
  readonly pod: (name: string) => PodObject | undefined;
  readonly status: (name: string) => PodStatus;
  readonly node: () => ApiObject | undefined;
  /** Messages of the agent's log lines, in order. */
  readonly messages: () => readonly string[];
}

/** What is special about the machine or its agent. */
export interface AgentWorldOptions {
  readonly machine?: Partial<MachineSpec>;
  /** Wraps the agent's client, to make requests fail. */
  readonly wrapClient?: (client: LocalClient) => LocalClient;
}

/** Boots a machine and waits until its node is registered. */
export async function createAgentWorld(options: AgentWorldOptions = {}): Promise<AgentWorld> {
  const requests: WriteLine[] = [];
  const world = await createLocalWorld({
    onRequest: ({ attributes, status }) => {
      if (attributes.user.name !== 'system:node:node-1') return;
      const { verb, resource, subresource, name = '' } = attributes;
      const path = subresource === undefined ? resource : `${resource}/${subresource}`;
      requests.push(`${verb} ${path} ${name} ${status}`);
    },
  });
  const { clock, random, log } = world;
  const machine = { ...TEST_MACHINE, ...options.machine };
  const user = { name: 'system:node:node-1', groups: ['system:nodes', 'system:masters'] };
  const plain = world.clients.clientFor(user);
  const client = options.wrapClient?.(plain) ?? plain;
  const record = createEventRecorder({
    client,
    component: 'kubelet',
    host: machine.name,
    clock,
    log,
  });
  const runtime = createSimulatedRuntime({ machine, clock, random });
  const podRuntime = new ScriptedPodRuntime(clock);
  const probes = new ScriptedProbes();
  const boot = (): RunningAgent =>
    runAgent(
      {
        machine,
        client,
        clock,
        random,
        log,
        record,
        hostIp: '172.16.0.1',
        bootId: runtime.bootId,
      },
      { runtime, podRuntime, probes },
    );
  const agent = boot();
  await prepareNamespace(world);
  await world.settle();
  const pod = (name: string): PodObject | undefined =>
    world.read({ resource: 'pods', namespace: 'default', name }) as PodObject | undefined;
  return {
    ...world,
    agent,
    boot,
    runtime,
    podRuntime,
    probes,
    requests,
    get podWrites() {
      return requests.filter((line) => / pods/.test(line) && !/^(get|list|watch) /.test(line));
    },
    createPod: async (name, of = {}) => {
      const spec: JsonObject = { nodeName: machine.name, ...of.spec };
      return (await world.create('pods', podObject(name, { ...of, spec }))) as PodObject;
    },
    pod,
    status: (name) => pod(name)?.status ?? {},
    node: () => world.read({ resource: 'nodes', name: machine.name }),
    messages: () => log.lines.map(({ message }) => message),
  };
}

/** What controllers make in each namespace and pods need. */
export async function prepareNamespace(world: LocalWorld): Promise<void> {
  const namespace = 'default';
  await world.create('serviceaccounts', { metadata: { name: 'default', namespace } });
  await world.create('configmaps', {
    metadata: { name: 'kube-root-ca.crt', namespace },
    data: { 'ca.crt': 'test' },
  });
}
