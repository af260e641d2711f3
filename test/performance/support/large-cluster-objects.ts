/**
 * The shapes of a large cluster's objects, with marks (`@name@`) where one object differs from the next of its kind.
 *
 * Nodes of some 10 KB (images, labels, annotations, conditions), pods of some 5 KB (env, volumes, status), all with
 * managedFields: what a cluster of EKS holds, shortened where it repeats itself.
 */
import type { WatchedKind } from '../../../src/core/model/projections.ts';

/** What the nodes of every other DaemonSet must have. */
const RING_LABEL = 'rollcall.test/ring';
/** Its value for a node that they run on. */
export const RING = 'on';
/** Of each DaemonSet. */
export const REVISIONS = 3;
const IMAGES = 25;

export function nodeOf(): object {
  const zone = 'eu-central-1a';
  const labels = {
    'beta.kubernetes.io/arch': 'amd64',
    'beta.kubernetes.io/instance-type': 'm6i.2xlarge',
    'beta.kubernetes.io/os': 'linux',
    'eks.amazonaws.com/capacityType': 'ON_DEMAND',
    'eks.amazonaws.com/nodegroup': 'general-purpose-2026-09',
    'eks.amazonaws.com/nodegroup-image': 'ami-0a1b2c3d4e5f60718',
    'failure-domain.beta.kubernetes.io/region': 'eu-central-1',
    'failure-domain.beta.kubernetes.io/zone': zone,
    'k8s.io/cloud-provider-aws': '8f9a8e1b3c0d4f5e6a7b8c9d0e1f2a3b',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': '@name@',
    'kubernetes.io/os': 'linux',
    'node.kubernetes.io/instance-type': 'm6i.2xlarge',
    'topology.ebs.csi.aws.com/zone': zone,
    'topology.k8s.aws/zone-id': 'euc1-az2',
    'topology.kubernetes.io/region': 'eu-central-1',
    'topology.kubernetes.io/zone': zone,
    [RING_LABEL]: '@ring@',
  };
  const annotations = {
    'csi.volume.kubernetes.io/nodeid': '{"ebs.csi.aws.com":"i-0123456789abcdef0"}',
    'node.alpha.kubernetes.io/ttl': '0',
    'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
  };
  const amounts = { cpu: '8', 'ephemeral-storage': '83873772Ki', memory: '32408452Ki', pods: '58' };
  const image = (index: number): object => {
    const name = `602401143452.dkr.ecr.eu-central-1.amazonaws.com/team/service-${pad(index, 3)}`;
    return {
      names: [`${name}@sha256:${pad(index, 4).repeat(16)}`, `${name}:v1.${String(index)}.0`],
      sizeBytes: 90_000_000 + index,
    };
  };
  return {
    metadata: { ...identity('@name@'), labels, annotations, managedFields: managedFields(labels) },
    spec: { providerID: 'aws:///eu-central-1a/i-0123456789abcdef0' },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
        type,
        status: type === 'Ready' ? 'True' : 'False',
        lastHeartbeatTime: '@heartbeat@',
        lastTransitionTime: '@at@',
        reason: `KubeletHas${type}`,
        message: `kubelet has told of ${type}`,
      })),
      addresses: [
        { type: 'InternalIP', address: '@ip@' },
        { type: 'Hostname', address: '@name@' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        bootID: '@uid@',
        machineID: 'ec2a1b2c3d4e5f60718293a4b5c6d7e8',
        kernelVersion: '6.1.115-126.197.amzn2023.x86_64',
        osImage: 'Amazon Linux 2023.6.20241121',
        containerRuntimeVersion: 'containerd://1.7.23',
        kubeletVersion: 'v1.34.1-eks-113cf36',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
      images: range(IMAGES).map(image),
    },
  };
}

/** A pod of the DaemonSet with that number, or of any ReplicaSet. */
export function podOf(kind: 'DaemonSet' | 'ReplicaSet', set: number): object {
  const owner = uidOf('DaemonSet', set);
  const labels = {
    ...daemonLabels(kind === 'DaemonSet' ? set : 99),
    'controller-revision-hash': '6c8d7f9b54',
    'pod-template-generation': '3',
  };
  const spec = podSpec();
  const condition = (type: string): object => {
    const times = { lastProbeTime: null, lastTransitionTime: '@at@' };
    return { type, status: 'True', ...times };
  };
  const state = { running: { startedAt: '@at@' } };
  return {
    metadata: {
      ...identity('@name@', kind === 'DaemonSet' ? 'kube-system' : 'team-services'),
      generateName: '@owner@-',
      labels,
      annotations: { 'checksum/config': 'a1b2c3d4'.repeat(8), 'prometheus.io/scrape': 'true' },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind,
          name: '@owner@',
          uid: owner,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: managedFields(labels),
    },
    spec: { ...spec, nodeName: '@node@' },
    status: {
      phase: 'Running',
      conditions: [
        'PodReadyToStartContainers',
        'Initialized',
        'Ready',
        'ContainersReady',
        'PodScheduled',
      ].map(condition),
      hostIP: '@ip@',
      podIP: '@ip@',
      podIPs: [{ ip: '@ip@' }],
      startTime: '@at@',
      containerStatuses: spec.containers.map(({ name, image }) => ({
        name,
        image,
        state,
        lastState: {},
        ready: true,
        restartCount: 0,
        imageID: `${image}@sha256:${'0f1e'.repeat(16)}`,
        containerID: `containerd://${'9a8b'.repeat(16)}`,
        started: true,
      })),
      qosClass: 'Burstable',
    },
  };
}

function podSpec(): { readonly containers: readonly { name: string; image: string }[] } {
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10 };
  const container = (name: string): { name: string; image: string } => ({
    name,
    image: `602401143452.dkr.ecr.eu-central-1.amazonaws.com/agents/${name}:v1.27.3`,
    ...{ args: ['--config=/etc/agent/config.yaml', '--log-level=info', '--v=2'] },
    ...{
      env: [
        { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'ENDPOINT', value: 'https://collector.observability.svc.cluster.local:4317' },
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'agent-token', key: 'token' } } },
      ],
      resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '256Mi' } },
      volumeMounts: [
        { name: 'config', mountPath: '/etc/agent', readOnly: true },
        { name: 'host', mountPath: '/host', readOnly: true },
      ],
      livenessProbe: probe,
      readinessProbe: probe,
    },
  });
  const rest = {
    volumes: [
      { name: 'config', configMap: { name: 'agent-config', defaultMode: 420 } },
      { name: 'host', hostPath: { path: '/', type: '' } },
    ],
    serviceAccountName: 'agent',
    priorityClassName: 'system-node-critical',
    tolerations: [{ operator: 'Exists' }],
  };
  return { containers: [container('main'), container('sidecar')], ...rest };
}

export function daemonSetOf(set: number, nodes: number): object {
  const labels = daemonLabels(set);
  const nodeSelector = set % 2 === 0 ? {} : { nodeSelector: { [RING_LABEL]: RING } };
  const name = daemonNameOf(set);
  return {
    metadata: {
      ...identity(name, 'kube-system'),
      generation: 3,
      labels,
      managedFields: managedFields(labels),
    },
    spec: {
      revisionHistoryLimit: 10,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { ...podSpec(), ...nodeSelector } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
    },
    status: {
      currentNumberScheduled: nodes,
      desiredNumberScheduled: nodes,
      numberAvailable: nodes,
      numberMisscheduled: 0,
      numberReady: nodes,
      observedGeneration: 3,
      updatedNumberScheduled: nodes,
    },
  };
}

/** A revision; each DaemonSet has some. */
export function revisionOf(index: number): object {
  const set = Math.floor(index / REVISIONS);
  const name = daemonNameOf(set);
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: uidOf('DaemonSet', set) };
  const labels = { ...daemonLabels(set), 'controller-revision-hash': `6c8d7f9b5${String(index)}` };
  return {
    metadata: {
      ...identity(`${name}-${String(index)}`, 'kube-system'),
      labels,
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    data: { spec: { template: { $patch: 'replace', spec: podSpec() } } },
    revision: (index % REVISIONS) + 1,
  };
}

function identity(name: string, namespace?: string): object {
  const where = namespace === undefined ? {} : { namespace };
  return { name, ...where, uid: '@uid@', resourceVersion: '@version@', creationTimestamp: '@at@' };
}

/** Two managers, as long as those of a kubelet and a controller. */
function managedFields(labels: Readonly<Record<string, string>>): readonly object[] {
  const fields = Object.fromEntries(Object.keys(labels).map((key) => [`f:${key}`, {}]));
  const entry = (manager: string): object => ({
    manager,
    operation: 'Update',
    apiVersion: 'v1',
    time: '@at@',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:annotations': { '.': {} }, 'f:labels': { '.': {}, ...fields } },
      'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {} } } },
    },
  });
  return [entry('kube-controller-manager'), entry('kubelet')];
}

function daemonLabels(set: number): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': daemonNameOf(set), 'app.kubernetes.io/instance': 'platform' };
}

/** Name of a DaemonSet. */
export function daemonNameOf(set: number): string {
  return `node-agent-${pad(set, 2)}`;
}

/** Name of a node. */
export function nodeNameOf(index: number): string {
  return `ip-10-0-${String(Math.floor(index / 200))}-${pad(index % 200, 3)}.eu-central-1.compute.internal`;
}

const UID_DIGITS: Readonly<Record<WatchedKind, string>> = {
  Node: '1',
  Pod: '2',
  DaemonSet: '3',
  ControllerRevision: '4',
};

/** UID of an object. */
export function uidOf(kind: WatchedKind, index: number): string {
  const digits = Math.imul(index + 1, 0x9e37_79b1) >>> 0;
  return `${digits.toString(16).padStart(8, '0')}-${UID_DIGITS[kind]}a2b-4c3d-8e4f-${pad(index, 12)}`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

/** Numbers from 0. */
export function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
