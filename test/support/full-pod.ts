/** A pod of a DaemonSet with everything that a watcher reads of one, and with much that it does not. */
import type { JsonObject } from '@rollcall/base/json.ts';

const ENDED = {
  exitCode: 137,
  signal: 9,
  reason: 'OOMKilled',
  startedAt: '2026-01-01T00:00:01Z',
  finishedAt: '2026-01-01T00:00:09Z',
};

const CONTAINER = {
  name: 'agent',
  state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
  lastState: { terminated: ENDED },
  ready: false,
  restartCount: 3,
  image: 'agent:1',
  imageID: 'sha256:1',
};

/** The pod; as an API server has it in JSON. */
export const FULL_POD: JsonObject = {
  metadata: {
    name: 'agent-x',
    generateName: 'agent-',
    namespace: 'ops',
    uid: 'u-1',
    resourceVersion: '4711',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'agent', 'controller-revision-hash': 'abc', empty: '' },
    annotations: { 'example.com/note': 'ä😀 "quoted"' },
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'agent',
        uid: 'ds-1',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
    finalizers: ['example.com/wait'],
    managedFields: [
      { manager: 'rollcall', operation: 'Update', time: '2026-01-01T00:00:00Z' },
      {
        manager: 'kubelet',
        operation: 'Update',
        time: '2026-01-01T00:00:10Z',
        subresource: 'status',
      },
    ],
  },
  spec: {
    containers: [{ name: 'agent', image: 'agent:1', resources: {} }],
    terminationGracePeriodSeconds: 30,
    nodeName: 'n1',
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
          ],
        },
      },
    },
    tolerations: [{ operator: 'Exists' }],
  },
  status: {
    phase: 'Running',
    reason: 'Odd',
    message: 'for people',
    hostIP: '10.0.0.1',
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-01T00:00:10Z',
        reason: 'ContainersNotReady',
        message: 'for people',
      },
      { type: 'ContainersReady', status: 'True' },
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
    ],
    initContainerStatuses: [
      { ...CONTAINER, name: 'init', state: { terminated: { ...ENDED, exitCode: -1 } } },
    ],
    containerStatuses: [CONTAINER],
  },
};
