/**
 * Registers the node: creates its Node object, or adopts the one that is there.
 *
 * Labels and taints that another client has changed since are left alone; the kubelet's own labels are put back. Tries until it
 * succeeds, 0.1 s doubling to 7 s, or until the agent stops.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { DEFAULT_KERNEL } from '../../machines/machine.ts';
import type { MachineSpec } from '../../machines/machine.ts';
import { podNetwork } from '../../runtime/pod-network.ts';
import type { Condition } from '../shared/pod-object.ts';

type Context = Pick<AgentContext, 'machine' | 'client' | 'clock' | 'log' | 'hostIp' | 'bootId'>;

const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 7000;
const VERSION = 'v1.36.3-rollcall';

/** Resolves with the Node as it stands in the API; undefined when stopped before. */
export async function registerNode(
  context: Context,
  conditions: readonly Condition[],
  isStopped: () => boolean,
): Promise<ApiObject | undefined> {
  const { client, machine, log, clock } = context;
  for (let delayMs = RETRY_MIN_MS; !isStopped(); delayMs = Math.min(RETRY_MAX_MS, delayMs * 2)) {
    const created = await client.create('nodes', initialNode(context, conditions));
    if (created.kind === 'ok') {
      log.debug('node registered', { name: machine.name });
      return created.object;
    }
    if (created.status.reason === 'AlreadyExists') {
      const adopted = await adoptNode(context);
      if (adopted !== undefined) return adopted;
    } else {
      log.warn('node not registered', { name: machine.name, because: created.status.message });
    }
    await clock.sleep(delayMs);
  }
  return undefined;
}

async function adoptNode({ client, machine, log }: Context): Promise<ApiObject | undefined> {
  const ref = { resource: 'nodes', name: machine.name } as const;
  const current = await client.get(ref);
  if (current.kind === 'refused') return undefined;
  const labels = current.object.metadata.labels ?? {};
  const missing = Object.entries(ownLabels(machine)).filter(
    ([key, value]) => labels[key] !== value,
  );
  log.debug('node adopted', { name: machine.name });
  if (missing.length === 0) return current.object;
  const patched = await client.patch(ref, {
    type: 'strategic',
    body: { metadata: { labels: Object.fromEntries(missing) } },
  });
  return patched.kind === 'ok' ? patched.object : undefined;
}

function ownLabels({ name }: MachineSpec): Readonly<Record<string, string>> {
  return {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': 'amd64',
  };
}

function initialNode(context: Context, conditions: readonly Condition[]): JsonObject {
  const { machine } = context;
  const podCidr = podNetwork(machine.name).cidr;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: machine.name,
      labels: { ...ownLabels(machine), ...machine.labels },
      annotations: {
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
        ...machine.annotations,
      },
    },
    spec: {
      podCIDR: podCidr,
      podCIDRs: [podCidr],
      ...(machine.taints.length === 0
        ? {}
        : { taints: machine.taints.map((taint): JsonObject => ({ ...taint })) }),
      ...(machine.isCordoned === true ? { unschedulable: true } : {}),
    },
    status: { ...machineStatus(context), conditions },
  };
}

/** The parts of a node's status that do not change while its machine runs. */
export function machineStatus({
  machine,
  hostIp,
  bootId,
}: Pick<Context, 'machine' | 'hostIp' | 'bootId'>): JsonObject {
  const resources: JsonObject = {
    ...machine.capacity,
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
  };
  const id = machine.name.padEnd(8, '0');
  return {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: hostIp },
      { type: 'Hostname', address: machine.name },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: id,
      systemUUID: id,
      bootID: bootId,
      kernelVersion: machine.kernel ?? DEFAULT_KERNEL,
      osImage: 'Rollcall simulated machine',
      containerRuntimeVersion: 'containerd://2.1.0-simulated',
      kubeletVersion: VERSION,
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
  };
}
