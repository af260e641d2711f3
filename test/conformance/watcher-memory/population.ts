/**
 * A large cluster for the watcher's memory: nodes, pods of DaemonSets, and many more pods of others.
 *
 * Everything goes through the API server, bound to its node at once, so that neither scheduler nor fake
 * kubelet works on it. Objects are as large as those of real clusters: about 3 KB of JSON for each pod, with
 * volumes, probes and managedFields. Bodies are made from one text per owner, because a hundred thousand
 * objects are a load for this process, too. Owners are real objects; no loop acts on them.
 */
import { Agent, request as httpsRequest } from 'node:https';
import type { ApiClient, ApiConnection, KubernetesObject } from '../control-plane/api.ts';
import { createNodes, plainNodes } from '../control-plane/nodes.ts';

export interface PopulationSize {
  readonly nodes: number;
  readonly daemonSets: number;
  /** Pods that no DaemonSet owns. */
  readonly otherPods: number;
}

/** Pods for each ReplicaSet. */
const REPLICAS = 100;
const OTHER_NAMESPACES = 20;
const IN_FLIGHT_MAX = 96;
const DAEMONS_NAMESPACE = 'daemons';
const NAME = '@name@';
const NODE = '@node@';

/** Pods of DaemonSets. */
export function daemonPodCount(size: PopulationSize): number {
  return size.nodes * size.daemonSets;
}

/** Path of a DaemonSet's pod on a node, both by number. */
export function daemonPodPath(daemonSet: number, node: number): string {
  return `${podsPath(DAEMONS_NAMESPACE)}/${daemonPodName(daemonSet, node)}`;
}

/** Path of another pod, by number. */
export function otherPodPath(index: number): string {
  const set = Math.floor(index / REPLICAS);
  return `${podsPath(namespaceOf(set))}/${otherPodName(set, index)}`;
}

/** Creates all of it. Service accounts are made by hand: no loop has to run for that. */
export async function populate(admin: ApiClient, size: PopulationSize): Promise<void> {
  const replicaSets = Math.ceil(size.otherPods / REPLICAS);
  for (const namespace of [DAEMONS_NAMESPACE, ...otherNamespaces()]) {
    await admin.post('/api/v1/namespaces', { metadata: { name: namespace } });
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    await admin.request({ method: 'POST', path, body: { metadata: { name: 'default' } } });
  }
  const nodes = plainNodes(size.nodes);
  await createNodes(admin, nodes);
  const nodeNames = nodes.map(({ metadata }) => metadata.name);
  const daemonSets = await Promise.all(
    count(size.daemonSets).map((index) =>
      admin.post(`/apis/apps/v1/namespaces/${DAEMONS_NAMESPACE}/daemonsets`, daemonSetOf(index)),
    ),
  );
  const sets = await Promise.all(
    count(replicaSets).map((index) =>
      admin.post(`/apis/apps/v1/namespaces/${namespaceOf(index)}/replicasets`, replicaSetOf(index)),
    ),
  );
  const writer = createWriter(admin.connection);
  try {
    await writer.writeAll(daemonPods(daemonSets, nodeNames));
    await writer.writeAll(statuses(daemonSets.length, nodeNames.length));
    await writer.writeAll(otherPods(sets, nodeNames, size.otherPods));
  } finally {
    writer.close();
  }
}

interface Write {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
  readonly body: string;
}

/** Writes with many connections; answers are not read, only judged. */
export function createWriter(connection: ApiConnection): {
  readonly writeAll: (writes: Iterable<Write>) => Promise<void>;
  readonly close: () => void;
} {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT_MAX, ca: connection.caPem });
  const { hostname, port } = new URL(connection.server);
  const authorization = `Bearer ${connection.token ?? ''}`;
  const write = ({ method, path, body }: Write): Promise<void> =>
    new Promise((resolve, reject) => {
      const type = method === 'POST' ? 'application/json' : 'application/merge-patch+json';
      const headers = {
        authorization,
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'user-agent': 'kubelet',
      };
      const outgoing = httpsRequest({ hostname, port, path, method, agent, headers });
      outgoing.once('response', (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        if (status >= 300) reject(new Error(`${method} ${path}: HTTP ${String(status)}`));
        else response.once('end', resolve);
      });
      outgoing.once('error', reject);
      outgoing.end(body);
    });
  return {
    writeAll: async (writes) => {
      const queue = writes[Symbol.iterator]();
      const work = async (): Promise<void> => {
        for (let next = queue.next(); next.done !== true; next = queue.next()) {
          await write(next.value);
        }
      };
      await Promise.all(count(IN_FLIGHT_MAX).map(work));
    },
    close: () => {
      agent.destroy();
    },
  };
}

/** A patch that makes a pod of a DaemonSet ready, or not: the watcher must send it. */
export function readinessPatch(path: string, isReady: boolean): Write {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, status: boolean): object => ({
    type,
    status: status ? 'True' : 'False',
    lastProbeTime: null,
    lastTransitionTime: at,
  });
  const conditions = [
    condition('PodReadyToStartContainers', true),
    condition('Initialized', true),
    condition('Ready', isReady),
    condition('ContainersReady', isReady),
    condition('PodScheduled', true),
  ];
  const status = { phase: 'Running', startTime: at, podIP: '10.0.0.1', conditions };
  return { method: 'PATCH', path: `${path}/status`, body: JSON.stringify({ status }) };
}

/** A patch that no projection shows: the watcher must drop it. */
export function annotationPatch(path: string, value: string): Write {
  const body = JSON.stringify({ metadata: { annotations: { 'rollcall.test/churn': value } } });
  return { method: 'PATCH', path, body };
}

function* daemonPods(
  daemonSets: readonly KubernetesObject[],
  nodeNames: readonly string[],
): Generator<Write> {
  const path = podsPath(DAEMONS_NAMESPACE);
  for (const [index, owner] of daemonSets.entries()) {
    const text = podText({ owner, kind: 'DaemonSet', labels: daemonLabels(index) });
    for (const [at, node] of nodeNames.entries()) {
      const body = text.replaceAll(NAME, daemonPodName(index, at)).replaceAll(NODE, node);
      yield { method: 'POST', path, body };
    }
  }
}

function* statuses(daemonSets: number, nodes: number): Generator<Write> {
  for (const daemonSet of count(daemonSets)) {
    for (const node of count(nodes)) yield readinessPatch(daemonPodPath(daemonSet, node), true);
  }
}

function* otherPods(
  sets: readonly KubernetesObject[],
  nodeNames: readonly string[],
  total: number,
): Generator<Write> {
  for (const [set, owner] of sets.entries()) {
    const text = podText({ owner, kind: 'ReplicaSet', labels: otherLabels(set) });
    const path = podsPath(namespaceOf(set));
    for (let index = set * REPLICAS; index < Math.min((set + 1) * REPLICAS, total); index += 1) {
      const node = nodeNames[index % nodeNames.length] ?? '';
      const body = text.replaceAll(NAME, otherPodName(set, index)).replaceAll(NODE, node);
      yield { method: 'POST', path, body };
    }
  }
}

function podText(options: {
  readonly owner: KubernetesObject;
  readonly kind: string;
  readonly labels: Readonly<Record<string, string>>;
}): string {
  const { owner, kind, labels } = options;
  const { name, uid } = owner.metadata;
  const reference = { apiVersion: 'apps/v1', kind, name, uid, controller: true };
  const metadata = {
    name: NAME,
    labels: { ...labels, 'pod-template-hash': '5d4f8c7b9', 'topology.rollcall.test/ring': 'a' },
    annotations: { 'checksum/config': 'a'.repeat(64), 'prometheus.io/scrape': 'true' },
    ownerReferences: [{ ...reference, blockOwnerDeletion: true }],
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec: podSpec() });
}

function podSpec(): object {
  const probe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 };
  return {
    nodeName: NODE,
    terminationGracePeriodSeconds: 30,
    containers: [
      {
        name: 'main',
        image: 'registry.example/team/some-service:1.27.3',
        args: ['--config=/etc/service/config.yaml', '--log-level=info'],
        env: [
          { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
          { name: 'SERVICE_ADDRESS', value: 'https://service.default.svc.cluster.local:8443' },
        ],
        ports: [{ name: 'http', containerPort: 8080 }],
        resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
        livenessProbe: probe,
        readinessProbe: probe,
        volumeMounts: [{ name: 'config', mountPath: '/etc/service' }],
      },
    ],
    volumes: [{ name: 'config', configMap: { name: 'service-config' } }],
  };
}

function daemonSetOf(index: number): object {
  const labels = daemonLabels(index);
  return {
    metadata: { name: `daemon-${String(index)}`, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...podSpec(), nodeName: undefined } },
    },
  };
}

function replicaSetOf(index: number): object {
  const labels = otherLabels(index);
  return {
    metadata: { name: `service-${String(index)}-5d4f8c7b9`, labels },
    spec: {
      replicas: REPLICAS,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...podSpec(), nodeName: undefined } },
    },
  };
}

function daemonLabels(index: number): Readonly<Record<string, string>> {
  return { app: `daemon-${String(index)}` };
}

function otherLabels(set: number): Readonly<Record<string, string>> {
  return { app: `service-${String(set)}` };
}

function daemonPodName(daemonSet: number, node: number): string {
  return `daemon-${String(daemonSet)}-${node.toString(36).padStart(10, '0')}`;
}

function otherPodName(set: number, index: number): string {
  return `service-${String(set)}-5d4f8c7b9-${index.toString(36).padStart(5, '0')}`;
}

function namespaceOf(set: number): string {
  return `team-${String(set % OTHER_NAMESPACES)}`;
}

function otherNamespaces(): readonly string[] {
  return count(OTHER_NAMESPACES).map(namespaceOf);
}

function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

function count(total: number): readonly number[] {
  return Array.from({ length: total }, (_, index) => index);
}
