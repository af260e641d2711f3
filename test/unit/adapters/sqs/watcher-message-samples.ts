/**
 * Watcher messages of every kind, for tests of the codec.
 */
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
  nodeName,
  resourceVersion,
  uid,
} from '../../../../src/core/model/identifiers.ts';
import type { PodProjection, Projection } from '../../../../src/core/model/projections.ts';
import type { WatcherBody, WatcherMessage } from '../../../../src/core/model/watcher-message.ts';

/** A message with this body. */
export function messageOf(body: WatcherBody): WatcherMessage {
  return {
    schema: 1,
    cluster: clusterId('west-1'),
    clusterUid: clusterUid('11111111-2222-3333-4444-555555555555'),
    epoch: epoch('123456789012345678901234567890'),
    incarnation: incarnation('k3b9x'),
    seq: 42,
    body,
  };
}

/** A pod of a DaemonSet on node `node-<index>`. */
export function pod(index: number): PodProjection {
  return {
    kind: 'Pod',
    namespace: 'agents',
    name: `collector-${index}-bcdfghjklm`,
    uid: uid(`00000000-0000-0000-0000-${String(index).padStart(12, '0')}`),
    resourceVersion: resourceVersion(String(100_000 + index)),
    ownerUid: uid('22222222-0000-0000-0000-000000000000'),
    labels: { app: 'collector', 'controller-revision-hash': 'bcdfghjklm' },
    boundNode: nodeName(`node-${index}`),
    targetNode: nodeName(`node-${index}`),
    phase: 'Running',
    isReady: true,
    readyChangedAtMs: 1_767_225_600_000,
    createdAtMs: 1_767_225_590_000,
    isTerminating: false,
  };
}

const daemonSet: Projection = {
  kind: 'DaemonSet',
  namespace: 'agents',
  name: 'collector',
  uid: uid('22222222-0000-0000-0000-000000000000'),
  resourceVersion: resourceVersion('77'),
  object: {
    metadata: {
      name: 'collector',
      namespace: 'agents',
      uid: '22222222-0000-0000-0000-000000000000',
      resourceVersion: '77',
      annotations: { note: 'ünïcode \u2028 and "quotes"' },
    },
    spec: { template: { spec: { future: [{ unknown: { field: [1, null] } }] } } },
  },
};

const node: Projection = {
  kind: 'Node',
  name: nodeName('node-1.example'),
  uid: uid('node-uid'),
  resourceVersion: resourceVersion('5'),
  labels: { 'kubernetes.io/os': 'linux', 'empty.example/value': '' },
  taints: [
    { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
    { key: 'k', effect: 'NoExecute' },
  ],
  unschedulable: false,
  isReady: true,
  isTerminating: false,
  createdAtMs: 1_767_225_590_000,
  system: {
    kernelVersion: '6.12.0',
    osImage: 'Bottlerocket OS 1.2.3 (aws-k8s-1.36)',
    containerRuntimeVersion: 'containerd://2.1.0',
    kubeletVersion: 'v1.36.3',
    bootId: '33333333-0000-0000-0000-000000000000',
  },
};

const troubled: Projection = {
  ...pod(2),
  isReady: false,
  trouble: {
    restarts: 3,
    waiting: 'CrashLoopBackOff',
    lastExit: { reason: 'OOMKilled', exitCode: 137, finishedAtMs: 1_767_225_595_000 },
    container: 'agent',
    unscheduled: 'Unschedulable',
    disruption: 'TerminationByKubelet',
    isReadyWithheld: true,
  },
};

const revision: Projection = {
  kind: 'ControllerRevision',
  namespace: 'agents',
  name: 'collector-bcdfghjklm',
  uid: uid('revision-uid'),
  resourceVersion: resourceVersion('6'),
  labels: {},
  revision: 3,
  isTerminating: false,
};

const opaque: Projection = {
  kind: 'Opaque',
  of: 'DaemonSet',
  namespace: 'agents',
  name: 'huge',
  uid: uid('huge-uid'),
  resourceVersion: resourceVersion('8'),
  reason: 'too-large',
  outline: {
    bytes: 200_000,
    bytesMax: 150_000,
    object: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'huge', namespace: 'agents', uid: 'huge-uid', resourceVersion: '8' },
      spec: { template: {} },
    },
  },
};

const cut = {
  marks: { Node: resourceVersion('9'), Pod: resourceVersion('10') },
  hashes: { Node: 0, Pod: 2 ** 48 - 1, DaemonSet: 5, ControllerRevision: 6 },
  silentMs: { Node: 12 },
};

const podSet = 'pods/22222222-0000-0000-0000-000000000000' as const;

/** One message of each kind of body, with every kind of projection. */
export const samples: Readonly<Record<string, WatcherMessage>> = {
  announcement: messageOf({
    kind: 'announcement',
    sliceCount: 4,
    reason: 'requested',
    requestId: 'r-1',
  }),
  heartbeat: messageOf({ kind: 'changes', deltas: [], cut }),
  changes: messageOf({
    kind: 'changes',
    affected: { rules: 1, keys: [{ namespace: 'agents', name: 'collector.v1' }] },
    deltas: [
      {
        of: 'Pod',
        uid: pod(1).uid,
        name: pod(1).name,
        namespace: 'agents',
        object: pod(1),
        sets: [{ set: podSet, hash: 77 }],
        formerSets: [],
      },
      {
        of: 'Node',
        uid: uid('node-uid'),
        name: 'node-2',
        object: null,
        sets: [],
        formerSets: [{ set: 'nodes', hash: 1 }],
      },
    ],
  }),
  slices: messageOf({
    kind: 'slices',
    slices: [
      { set: 'nodes', index: 0, objects: [{ object: node, hash: 1 }] },
      {
        set: 'daemonsets',
        index: 1,
        objects: [daemonSet, opaque].map((object) => ({ object, hash: 2 })),
      },
      {
        set: 'revisions/22222222-0000-0000-0000-000000000000',
        index: 0,
        objects: [{ object: revision, hash: 3 }],
      },
      { set: podSet, index: 3, objects: [] },
      { set: podSet, index: 2, objects: [{ object: troubled, hash: 4 }] },
    ],
  }),
  manifest: messageOf({
    kind: 'manifest',
    announcedSeq: 1,
    sliceCount: 16,
    cut,
  }),
};
