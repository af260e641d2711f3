/**
 * Small pods and nodes for tests of the local cluster, as a client would post them.
 */
import type { JsonObject } from '@rollcall/base/json.ts';

/** A node with room for ten pods, Ready unless told otherwise. */
export function nodeObject(
  name: string,
  of: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly spec?: JsonObject;
    readonly ready?: 'True' | 'False' | 'Unknown' | 'none';
    readonly conditions?: readonly JsonObject[];
    readonly allocatable?: Readonly<Record<string, string>>;
  } = {},
): JsonObject {
  const { ready = 'True', conditions = [] } = of;
  const allocatable = of.allocatable ?? { cpu: '2', memory: '4Gi', pods: '10' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...of.labels } },
    spec: of.spec ?? {},
    status: {
      capacity: allocatable,
      allocatable,
      conditions: [...(ready === 'none' ? [] : [nodeCondition('Ready', ready)]), ...conditions],
    },
  };
}

/** A condition as a node agent writes it. */
export function nodeCondition(type: string, status: string): JsonObject {
  const at = '2026-01-01T00:00:00Z';
  return {
    type,
    status,
    reason: 'Test',
    message: 'test',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}

/** A pod with one container in the namespace default. */
export function podObject(
  name: string,
  of: {
    readonly namespace?: string;
    readonly metadata?: JsonObject;
    readonly spec?: JsonObject;
    readonly requests?: Readonly<Record<string, string>>;
    readonly hostPort?: number;
  } = {},
): JsonObject {
  const { namespace = 'default', requests = {}, hostPort } = of;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...of.metadata },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'example/main:1',
          resources: { requests },
          ...(hostPort === undefined
            ? {}
            : { ports: [{ containerPort: hostPort, hostPort, protocol: 'TCP' }] }),
        },
      ],
      ...of.spec,
    },
  };
}

/** The affinity that a DaemonSet controller gives a pod: this node and no other. */
export function pinnedTo(nodeName: string): JsonObject {
  return {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] },
        ],
      },
    },
  };
}

/** A ConfigMap, for graphs of owners. */
export function configMapObject(name: string, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', ...metadata },
  };
}
