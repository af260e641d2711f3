/**
 * Fake nodes for tests: what a mixed fleet looks like, in a fixed pattern, and how to create many
 * of them fast.
 *
 * kwok plays their kubelets. A node's label `rollcall.test/role` names its part in the pattern,
 * so that tests can say what they expect without repeating it. Nothing here is random.
 */
import type { ApiClient, KubernetesObject } from './api.ts';
import { listAll } from './watch.ts';

/** A taint of a node. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

/** The part a node plays in `variedNodes`. */
export type NodeRole = 'control-plane' | 'gpu' | 'cordoned' | 'not-ready' | 'storage' | 'plain';

export interface FakeNodeOptions {
  readonly name: string;
  readonly role?: NodeRole;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly isCordoned?: boolean;
  readonly podsMax?: number;
  /** Registered as Ready, which saves a write for each node; else its fake kubelet says so. */
  readonly registersReady?: boolean;
}

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
const INSTANCE_TYPES = ['small', 'medium', 'large'] as const;
const PODS_MAX = 250;
const CREATES_IN_FLIGHT_MAX = 64;

/** The part of each of twenty nodes; larger fleets repeat it. */
const ROLE_PATTERN: readonly NodeRole[] = [
  ...(['control-plane', 'gpu', 'gpu', 'gpu', 'cordoned', 'cordoned'] as const),
  ...(['not-ready', 'not-ready', 'storage', 'storage', 'storage'] as const),
  ...Array.from({ length: 9 }, () => 'plain' as const),
];

const ROLE_OPTIONS: Readonly<Record<NodeRole, Omit<FakeNodeOptions, 'name' | 'role'>>> = {
  'control-plane': {
    labels: { 'node-role.kubernetes.io/control-plane': '' },
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  },
  gpu: {
    labels: { 'rollcall.test/pool': 'gpu' },
    taints: [{ key: 'rollcall.test/gpu', value: 'present', effect: 'NoSchedule' }],
  },
  cordoned: { isCordoned: true },
  'not-ready': { labels: { 'rollcall.test/never-ready': 'true' } },
  storage: { labels: { 'rollcall.test/pool': 'storage', 'rollcall.test/disk': 'ssd' } },
  plain: {},
};

/** One fake node as it is sent to the API server. */
export function fakeNode(options: FakeNodeOptions): KubernetesObject {
  const resources = { cpu: '32', memory: '128Gi', pods: String(options.podsMax ?? PODS_MAX) };
  const resourcesWithStorage = { ...resources, 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: options.name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': options.name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'rollcall.test/role': options.role ?? 'plain',
        ...options.labels,
      },
    },
    spec: {
      ...(options.taints ? { taints: options.taints } : {}),
      ...(options.isCordoned === true ? { unschedulable: true } : {}),
    },
    status: {
      allocatable: resourcesWithStorage,
      capacity: resourcesWithStorage,
      ...(options.registersReady === true ? { conditions: [readyCondition()] } : {}),
    },
  };
}

/** A mixed fleet: control plane, GPU, cordoned, NotReady, storage and plain nodes. */
export function variedNodes(count = ROLE_PATTERN.length, namePrefix = 'node'): KubernetesObject[] {
  return Array.from({ length: count }, (_, index) => {
    const role = ROLE_PATTERN[index % ROLE_PATTERN.length] ?? 'plain';
    const name = nodeName(namePrefix, index);
    const { labels, ...rest } = ROLE_OPTIONS[role];
    return fakeNode({ ...rest, name, role, labels: { ...placeLabels(index), ...labels } });
  });
}

/** Nodes without any peculiarity, spread over zones and instance types; the fastest to create. */
export function plainNodes(count: number, namePrefix = 'node'): KubernetesObject[] {
  return Array.from({ length: count }, (_, index) =>
    fakeNode({
      name: nodeName(namePrefix, index),
      labels: placeLabels(index),
      registersReady: true,
    }),
  );
}

/** The part a node plays, from its label. */
export function roleOf(node: KubernetesObject): string {
  return node.metadata.labels?.['rollcall.test/role'] ?? 'plain';
}

/** Creates nodes, many at a time; resolves when the API server has accepted all of them. */
export async function createNodes(
  admin: ApiClient,
  nodes: readonly KubernetesObject[],
): Promise<void> {
  await forEachInParallel(nodes, (node) => admin.post('/api/v1/nodes', node));
}

/** Deletes nodes by name, many at a time. Their pods are left to garbage collection. */
export async function deleteNodes(admin: ApiClient, names: readonly string[]): Promise<void> {
  await forEachInParallel(names, (name) => admin.delete(`/api/v1/nodes/${name}`));
}

/**
 * Lets a fake node's kubelet report Ready or NotReady. On the way back to Ready it also reports
 * the node's running pods as ready again, which kwok by itself does not.
 */
export async function setNodeReady(
  admin: ApiClient,
  name: string,
  isReady: boolean,
): Promise<void> {
  const label = isReady ? null : 'true';
  await admin.patch(`/api/v1/nodes/${name}`, {
    metadata: { labels: { 'rollcall.test/never-ready': label } },
  });
  if (!isReady) return;
  const pods = await listAll(admin, `/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`);
  await forEachInParallel(pods.items.filter(hasReadyContainers), (pod) =>
    admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${pod.metadata.namespace ?? ''}/pods/${pod.metadata.name}/status`,
      contentType: 'application/strategic-merge-patch+json',
      body: {
        metadata: { uid: pod.metadata.uid },
        status: { conditions: [{ type: 'Ready', status: 'True', reason: null }] },
      },
    }),
  );
}

function readyCondition(): object {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
}

function hasReadyContainers(pod: KubernetesObject): boolean {
  const status = pod['status'] as { containerStatuses?: { ready?: boolean }[] } | undefined;
  const containers = status?.containerStatuses ?? [];
  return containers.length > 0 && containers.every((container) => container.ready === true);
}

function nodeName(prefix: string, index: number): string {
  return `${prefix}-${String(index + 1).padStart(4, '0')}`;
}

function placeLabels(index: number): Readonly<Record<string, string>> {
  const zone = ZONES[index % ZONES.length] ?? ZONES[0];
  const instanceType = INSTANCE_TYPES[Math.floor(index / ZONES.length) % INSTANCE_TYPES.length];
  return {
    'topology.kubernetes.io/region': 'region-1',
    'topology.kubernetes.io/zone': zone,
    'node.kubernetes.io/instance-type': instanceType ?? INSTANCE_TYPES[0],
  };
}

async function forEachInParallel<Item>(
  items: readonly Item[],
  action: (item: Item) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) await action(item);
  };
  await Promise.all(Array.from({ length: CREATES_IN_FLIGHT_MAX }, work));
}
