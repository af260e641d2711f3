/**
 * Bodies of nodes, namespaces, events and leases.
 */
import { changesOf, makeMetadata, METADATA_CHANGES, sometimes, type Bodies } from './body.ts';

/** Nodes. */
export const NODE_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: makeMetadata(seeded, identity),
    ...sometimes(seeded, 0.6, {
      spec: sometimes(seeded, 0.3, {
        taints: [
          { key: 'example.com/pool', value: 'a', effect: 'NoSchedule' },
          { key: 'example.com/drain', effect: 'NoExecute', timeAdded: '2020-01-01T00:00:00Z' },
        ],
        unschedulable: true,
      }),
      status: {
        capacity: { cpu: '4', memory: '8Gi', pods: '110', 'example.com/gpu': '2' },
        ...sometimes(seeded, 0.3, {
          allocatable: { cpu: '3800m', memory: '7Gi', pods: 110 },
          conditions: [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }],
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          nodeInfo: { kubeletVersion: 'v1.36.3', osImage: 'Linux' },
          phase: 'Running',
        }),
      },
    }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['spec.taints', [{ key: 'example.com/a', effect: 'NoSchedule' }]],
      [
        'spec.taints',
        [
          { key: 'a', effect: 'NoExecute' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      ],
      ['spec.taints', []],
      ['spec.taints', null],
      ['spec.unschedulable', true],
      ['spec.unschedulable', 'true'],
      ['spec.unschedulable', null],
      ['spec.unknownMember', 1],
      ['status.capacity', { cpu: 'many' }],
      ['status.conditions', [{ type: 'Ready', status: 'False' }]],
      ['metadata.labels.[node-role.kubernetes.io/worker]', ''],
      ['metadata.labels.[kubernetes.io/os]', 'linux'],
    ]),
  ],
  statusChanges: changesOf([
    ['status.conditions', [{ type: 'Ready', status: 'True' }]],
    [
      'status.conditions',
      [
        { type: 'Ready', status: 'False', reason: 'KubeletNotReady' },
        { type: 'DiskPressure', status: 'False' },
      ],
    ],
    [
      'status.conditions',
      [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2020-02-03T04:05:06Z' }],
    ],
    ['status.capacity.cpu', '8'],
    ['status.capacity.cpu', 'eight'],
    ['status.allocatable.memory', '4Gi'],
    ['status.allocatable', { cpu: '1', memory: '1Gi', pods: '10' }],
    [
      'status.addresses',
      [
        { type: 'InternalIP', address: '10.0.0.9' },
        { type: 'Hostname', address: 'h' },
      ],
    ],
    ['status.images', [{ names: ['a:1'], sizeBytes: 5 }]],
    ['status.nodeInfo.kubeletVersion', 'v1.36.4'],
    ['status.daemonEndpoints', { kubeletEndpoint: { Port: 10250 } }],
    ['status.phase', 'Running'],
    ['status', {}],
    ['status', null],
    ['status.unknownMember', 1],
    ['spec.unschedulable', true],
    ['spec.taints', []],
    ['metadata.labels.tier', 'through-status'],
    ['metadata.annotations.[example.com/note]', 'through-status'],
  ]),
};

/** Namespaces. */
export const NAMESPACE_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: makeMetadata(seeded, identity),
    ...sometimes(seeded, 0.2, { spec: { finalizers: ['kubernetes', 'example.com/mine'] } }),
    ...sometimes(seeded, 0.1, { status: { phase: 'Terminating' } }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['spec.finalizers', ['kubernetes']],
      ['spec.finalizers', []],
      ['spec.unknownMember', 1],
      ['status.phase', 'Terminating'],
      ['metadata.labels.[kubernetes.io/metadata.name]', 'other'],
      ['metadata.labels.[kubernetes.io/metadata.name]'],
    ]),
  ],
  statusChanges: changesOf([
    ['status.conditions', [{ type: 'NamespaceDeletionContentFailure', status: 'True' }]],
    ['status', {}],
    ['metadata.labels.tier', 'through-status'],
  ]),
};

/** Events (core). */
export const EVENT_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: makeMetadata(seeded, identity),
    involvedObject: {
      apiVersion: 'v1',
      kind: 'Pod',
      name: 'one',
      ...(identity.namespace === undefined ? {} : { namespace: identity.namespace }),
      ...sometimes(seeded, 0.3, { uid: 'pod-uid', fieldPath: 'spec.containers{main}' }),
    },
    reason: seeded.pick(['Started', 'Failed']),
    message: 'a message',
    type: seeded.pick(['Normal', 'Warning']),
    ...sometimes(seeded, 0.5, {
      firstTimestamp: '2020-01-01T00:00:00Z',
      lastTimestamp: '2020-01-01T00:01:00Z',
      count: 3,
      source: { component: 'kubelet', host: 'node-1' },
    }),
    ...(seeded.next() < 0.3
      ? {
          eventTime: '2020-01-01T00:00:00.123456Z',
          reportingComponent: 'example.com/reporter',
          reportingInstance: 'reporter-1',
          action: 'Act',
        }
      : {}),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['message', 'another message'],
      ['count', 4],
      ['count', 'four'],
      ['lastTimestamp', '2020-01-01T00:02:00Z'],
      ['lastTimestamp', 'late'],
      ['eventTime', '2020-01-01T00:00:00.5Z'],
      ['eventTime', null],
      ['series', { count: 2, lastObservedTime: '2020-01-01T00:00:00.123456Z' }],
      ['unknownMember', 1],
    ]),
  ],
  statusChanges: [],
};

/** Leases. */
export const LEASE_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: makeMetadata(seeded, identity),
    spec: sometimes(seeded, 0.6, {
      holderIdentity: 'node-1',
      leaseDurationSeconds: 40,
      acquireTime: '2020-01-01T00:00:00.000000Z',
      renewTime: '2020-01-01T00:00:10.123456Z',
      leaseTransitions: 1,
    }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['spec.holderIdentity', 'node-2'],
      ['spec.holderIdentity', ''],
      ['spec.holderIdentity', null],
      ['spec.leaseDurationSeconds', '40'],
      ['spec.renewTime', '2020-01-01T00:00:20Z'],
      ['spec.renewTime', '2020-01-01T00:00:20.5Z'],
      ['spec.renewTime', 'now'],
      ['spec.renewTime', null],
      ['spec.unknownMember', 1],
      ['spec'],
    ]),
  ],
  statusChanges: [],
};
