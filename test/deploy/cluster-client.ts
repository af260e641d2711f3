/**
 * What the deploy test does in the cluster as its administrator: labels, DaemonSets, and looks at their pods.
 */
import { jsonItems, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { collectionPath } from '../../src/engine/apply-manifests.ts';
import type { EngineCluster } from '../../src/engine/engine-options.ts';
import { openTransport } from '../../src/engine/reach-cluster.ts';

/** One pod, as the test compares it. */
export interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly image: string;
  readonly isReady: boolean;
  readonly restarts: number;
}

export interface ClusterClient {
  /** Ready nodes that pods may be placed on. */
  readonly readyNodes: () => Promise<readonly string[]>;
  readonly label: (node: string, labels: Readonly<Record<string, string>>) => Promise<void>;
  readonly create: (daemonSet: DaemonSetSpec) => Promise<string>;
  /** Creates what of Rollcall's manifests a cluster is given besides the shipped ones. */
  readonly createManifest: (manifest: JsonObject) => Promise<void>;
  readonly setImage: (name: string, image: string) => Promise<void>;
  /** Pods of the DaemonSet that are not terminating, by node. */
  readonly pods: (name: string) => Promise<readonly SeenPod[]>;
  readonly close: () => void;
}

export interface DaemonSetSpec {
  readonly name: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly image: string;
}

/** Where its DaemonSets are. */
export const NAMESPACE = 'default';
const DAEMON_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;

export function openClusterClient(cluster: EngineCluster): ClusterClient {
  const transport = openTransport(cluster, cluster.probe);
  const send = async (
    method: 'GET' | 'POST' | 'PATCH',
    requestPath: string,
    body?: object,
  ): Promise<Json | undefined> => {
    const answer = await transport.send({
      method,
      path: requestPath,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
    });
    if (answer.kind === 'answered' && answer.status < 300) return answer.body;
    throw new Error(`${method} ${requestPath}: ${JSON.stringify(answer)}`);
  };
  return {
    readyNodes: async () => {
      const nodes = jsonItems(jsonMember(await send('GET', '/api/v1/nodes'), 'items'));
      return nodes.filter(isUsable).map((node) => textAt(node, 'metadata', 'name'));
    },
    label: async (node, labels) => {
      await send('PATCH', `/api/v1/nodes/${node}`, { metadata: { labels } });
    },
    create: async (spec) => {
      const created = await send('POST', DAEMON_SETS, manifestOf(spec));
      return textAt(created, 'metadata', 'uid');
    },
    createManifest: async (manifest) => {
      await send('POST', collectionPath(manifest), manifest);
    },
    setImage: async (name, image) => {
      const containers = [{ name: 'main', image }];
      const body = { spec: { template: { spec: { containers } } } };
      await send('PATCH', `${DAEMON_SETS}/${name}`, body);
    },
    pods: async (name) => {
      const query = `labelSelector=${encodeURIComponent(`app=${name}`)}`;
      const list = await send('GET', `/api/v1/namespaces/${NAMESPACE}/pods?${query}`);
      return jsonItems(jsonMember(list, 'items'))
        .filter((pod) => textAt(pod, 'metadata', 'deletionTimestamp') === '')
        .map(seenPod)
        .sort((left, right) => left.node.localeCompare(right.node));
    },
    close: () => {
      transport.retire();
    },
  };
}

function manifestOf({ name, nodeSelector, image }: DaemonSetSpec): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '50%' } },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector,
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name: 'main', image }],
        },
      },
    },
  };
}

function isUsable(node: Json): boolean {
  return (
    conditionOf(node, 'Ready') && jsonMember(jsonMember(node, 'spec'), 'unschedulable') !== true
  );
}

function seenPod(pod: Json): SeenPod {
  const [container] = jsonItems(jsonMember(jsonMember(pod, 'spec'), 'containers'));
  const statuses = jsonItems(jsonMember(jsonMember(pod, 'status'), 'containerStatuses'));
  return {
    name: textAt(pod, 'metadata', 'name'),
    uid: textAt(pod, 'metadata', 'uid'),
    node: textAt(pod, 'spec', 'nodeName'),
    image: textAt({ container: container ?? null }, 'container', 'image'),
    isReady: conditionOf(pod, 'Ready'),
    restarts: statuses.reduce(
      (sum: number, one) => sum + Number(jsonMember(one, 'restartCount') ?? 0),
      0,
    ),
  };
}

function conditionOf(object: Json, type: string): boolean {
  return jsonItems(jsonMember(jsonMember(object, 'status'), 'conditions')).some(
    (one) => jsonMember(one, 'type') === type && jsonMember(one, 'status') === 'True',
  );
}

function textAt(object: Json | undefined, member: string, name: string): string {
  const value = jsonMember(jsonMember(object, member), name);
  return typeof value === 'string' ? value : '';
}
