/**
 * A DaemonSet that sets every field which the admission policy compares, and ways in which
 * somebody with Rollcall's credential might change a pod of it for the worse: of each rule of the policy at least one. Each
 * field of a pod, one by one, is pod-variants.test.ts's.
 *
 * Defaults are left to the API server on purpose: what it fills in must not look like tampering.
 */
import type { JsonObject } from '@rollcall/base/json.ts';

/** Where it lives. */
export const WIDE_NAMESPACE = 'wide';

/** Of its pods in AWS. */
export const WIDE_ROLE = 'arn:aws:iam::111111111111:role/agent';

const PROBE = { exec: { command: ['/probe'] }, periodSeconds: 7 };

const VOLUMES_OF_HOST_AND_OTHERS = [
  { name: 'host', hostPath: { path: '/var/log' } },
  { name: 'config', configMap: { name: 'settings' } },
  { name: 'secret', secret: { secretName: 'agent' } },
  { name: 'scratch', emptyDir: {} },
  { name: 'claim', persistentVolumeClaim: { claimName: 'disk' } },
  {
    name: 'pod-info',
    downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] },
  },
];

/** The DaemonSet, as an operator would write it. */
export function wideDaemonSet(name: string): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name,
      namespace: WIDE_NAMESPACE,
      // As its service account would say it on EKS.
      annotations: { 'eks.amazonaws.com/role-arn': WIDE_ROLE },
    },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: {
          labels: { app: name, tier: 'node' },
          annotations: { 'example.com/note': 'kept' },
          finalizers: ['example.com/hold'],
        },
        spec: {
          serviceAccountName: 'agent',
          priorityClassName: 'system-node-critical',
          dnsPolicy: 'Default',
          nodeSelector: { 'kubernetes.io/os': 'linux' },
          hostAliases: [{ ip: '192.0.2.1', hostnames: ['upstream'] }],
          terminationGracePeriodSeconds: 5,
          securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 7 },
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
              ],
            },
          },
          initContainers: [
            { name: 'sidecar', image: 'registry.example/side:1', restartPolicy: 'Always' },
            { name: 'prepare', image: 'registry.example/prepare:1', command: ['/prepare'] },
          ],
          containers: [
            {
              name: 'agent',
              image: 'registry.example/agent:1',
              command: ['/agent'],
              args: ['--quiet'],
              env: [
                { name: 'PLAIN', value: 'x' },
                { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              ],
              envFrom: [{ configMapRef: { name: 'settings' } }],
              ports: [{ containerPort: 9100, hostPort: 9100 }],
              securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } },
              volumeMounts: [
                { name: 'host', mountPath: '/host', readOnly: true },
                { name: 'config', mountPath: '/config' },
              ],
              livenessProbe: PROBE,
              lifecycle: { preStop: { exec: { command: ['/stop'] } } },
            },
            {
              name: 'second',
              image: 'registry.example/second:1',
              resources: { limits: { cpu: 1 } },
            },
          ],
          volumes: VOLUMES_OF_HOST_AND_OTHERS,
        },
      },
    },
  };
}

/** What of a pod may be changed; a copy, so that a change harms no other test. */
export interface DraftPod {
  readonly metadata: Record<string, unknown> & {
    labels: Record<string, string>;
    annotations: Record<string, string>;
    ownerReferences: Record<string, unknown>[];
  };
  readonly spec: Record<string, unknown> & {
    containers: Record<string, unknown>[];
    initContainers: Record<string, unknown>[];
    volumes: Record<string, unknown>[];
    affinity: { nodeAffinity: Record<string, unknown> };
  };
}

export interface Tampering {
  readonly what: string;
  /** Part of the refusal: the named field. */
  readonly refusal: RegExp;
  readonly change: (pod: DraftPod) => void;
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

function pinnedTo(...terms: readonly unknown[]): (pod: DraftPod) => void {
  return (pod) => {
    pod.spec.affinity.nodeAffinity[required] = { nodeSelectorTerms: terms };
  };
}

function owner(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => {
    pod.metadata.ownerReferences = pod.metadata.ownerReferences.map((one) => ({
      ...one,
      ...change,
    }));
  };
}

function spec(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => {
    Object.assign(pod.spec, change);
  };
}

function container(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => {
    Object.assign(pod.spec.containers[0] ?? {}, change);
  };
}

function initContainer(change: Record<string, unknown>): (pod: DraftPod) => void {
  return (pod) => {
    const prepare = pod.spec.initContainers.find(({ name }) => name === 'prepare');
    Object.assign(prepare ?? {}, change);
  };
}

const SHAPE: readonly Tampering[] = [
  {
    what: 'no owner',
    refusal: /one owner/,
    change: (pod) => (pod.metadata.ownerReferences = []),
  },
  {
    what: 'a second owner',
    refusal: /one owner|exists under its name/,
    change: (pod) =>
      pod.metadata.ownerReferences.push({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: 'x',
        uid: 'x',
      }),
  },
  {
    what: 'an owner that does not control',
    refusal: /one owner/,
    change: owner({ controller: false }),
  },
  { what: 'an owner of another kind', refusal: /one owner/, change: owner({ kind: 'ReplicaSet' }) },
  {
    what: 'an owner of another group',
    refusal: /one owner/,
    change: owner({ apiVersion: 'example.com/v1' }),
  },
  {
    what: 'the owner’s name with another uid',
    refusal: /exists under its name/,
    change: owner({ uid: 'other' }),
  },
  {
    what: 'the owner’s uid with another name',
    refusal: /exists under its name/,
    change: owner({ name: 'other' }),
  },
  {
    what: 'a node chosen past the scheduler',
    refusal: /left to the scheduler/,
    change: spec({ nodeName: 'n-1' }),
  },
  {
    what: 'no node affinity',
    refusal: /pinned to one node|affinity differs/,
    change: spec({ affinity: {} }),
  },
  {
    what: 'two nodes',
    refusal: /pinned to one node/,
    change: pinnedTo(
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n-1'] }] },
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n-2'] }] },
    ),
  },
  {
    what: 'every node but one',
    refusal: /pinned to one node/,
    change: pinnedTo({
      matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n-1'] }],
    }),
  },
  {
    what: 'nodes by label',
    refusal: /pinned to one node/,
    change: pinnedTo({ matchExpressions: [{ key: 'a', operator: 'Exists' }] }),
  },
];

const POD_FIELDS: readonly Tampering[] = [
  {
    what: 'no label by which DaemonSet pods are known',
    refusal: /carries the label pod-template-generation/,
    change: (pod) => delete pod.metadata.labels['pod-template-generation'],
  },
  {
    what: 'a label taken away',
    refusal: /labels differ/,
    change: (pod) => delete pod.metadata.labels['tier'],
  },
  {
    what: 'another label',
    refusal: /labels differ/,
    change: (pod) => (pod.metadata.labels['tier'] = 'x'),
  },
  {
    what: 'a finalizer',
    refusal: /finalizers differ/,
    change: (pod) => (pod.metadata['finalizers'] = ['example.com/hold', 'example.com/more']),
  },
  {
    what: 'an AppArmor profile by annotation',
    refusal: /annotations differ/,
    change: (pod) =>
      (pod.metadata.annotations['container.apparmor.security.beta.kubernetes.io/agent'] =
        'unconfined'),
  },
  {
    what: 'serviceAccountName',
    refusal: /serviceAccountName/,
    change: spec({ serviceAccountName: 'admin', serviceAccount: 'admin' }),
  },
  { what: 'hostNetwork', refusal: /hostNetwork/, change: spec({ hostNetwork: true }) },
  {
    what: 'priorityClassName',
    refusal: /priorityClassName/,
    change: spec({ priorityClassName: 'system-cluster-critical' }),
  },
];

const VOLUMES: readonly Tampering[] = [
  {
    what: 'one more path of the host',
    refusal: /volumes differ/,
    change: (pod) => pod.spec.volumes.push({ name: 'root', hostPath: { path: '/' } }),
  },
  {
    what: 'one more secret',
    refusal: /volumes differ/,
    change: (pod) => pod.spec.volumes.push({ name: 'more', secret: { secretName: 'admin' } }),
  },
  {
    what: 'a secret by projection',
    refusal: /volumes differ/,
    change: (pod) =>
      pod.spec.volumes.push({ name: 'p', projected: { sources: [{ secret: { name: 'admin' } }] } }),
  },
  {
    what: 'a volume taken away',
    refusal: /volumes differ/,
    change: (pod) => (pod.spec.volumes = pod.spec.volumes.filter(({ name }) => name !== 'scratch')),
  },
];

const CONTAINERS: readonly Tampering[] = [
  {
    what: 'image',
    refusal: /containers differ/,
    change: container({ image: 'registry.example/evil:1' }),
  },
  { what: 'container name', refusal: /containers differ/, change: container({ name: 'other' }) },
  {
    what: 'ports',
    refusal: /ports differ/,
    change: container({ ports: [{ containerPort: 1, hostPort: 1 }] }),
  },
  {
    what: 'privileged',
    refusal: /securityContext of a container differs/,
    change: container({ securityContext: { privileged: true } }),
  },
  {
    what: 'one more container',
    refusal: /containers differ/,
    change: (pod) => pod.spec.containers.push({ name: 'evil', image: 'registry.example/evil:1' }),
  },
  {
    what: 'a container taken away',
    refusal: /containers differ/,
    change: (pod) => pod.spec.containers.pop(),
  },
  {
    what: 'env value',
    refusal: /environment differs/,
    change: container({ env: [{ name: 'PLAIN', value: 'y' }] }),
  },
  {
    what: 'env LD_PRELOAD',
    refusal: /environment differs/,
    change: (pod) =>
      ((pod.spec.containers[1] ?? {})['env'] = [{ name: 'LD_PRELOAD', value: '/x' }]),
  },
  {
    what: 'env from a secret under a tolerated name',
    refusal: /environment differs/,
    change: (pod) =>
      ((pod.spec.containers[1] ?? {})['env'] = [
        { name: 'AWS_REGION', valueFrom: { secretKeyRef: { name: 'admin', key: 'x' } } },
      ]),
  },
  {
    what: 'credentials from elsewhere',
    refusal: /environment differs/,
    change: (pod) =>
      ((pod.spec.containers[1] ?? {})['env'] = [
        { name: 'AWS_CONTAINER_CREDENTIALS_FULL_URI', value: 'http://192.0.2.9/' },
      ]),
  },
  {
    what: 'a volume mounted where it was not',
    refusal: /volumeMounts differ/,
    change: (pod) =>
      ((pod.spec.containers[1] ?? {})['volumeMounts'] = [{ name: 'secret', mountPath: '/s' }]),
  },
  {
    what: 'a mount made writable',
    refusal: /volumeMounts differ/,
    change: container({
      volumeMounts: [
        { name: 'host', mountPath: '/host' },
        { name: 'config', mountPath: '/config' },
      ],
    }),
  },
  {
    what: 'image of an initContainer',
    refusal: /initContainers differ/,
    change: initContainer({ image: 'registry.example/evil:1' }),
  },
  {
    what: 'securityContext of an initContainer',
    refusal: /securityContext of a container differs/,
    change: initContainer({ securityContext: { privileged: true } }),
  },
  {
    what: 'one more initContainer',
    refusal: /initContainers differ/,
    change: (pod) =>
      pod.spec.initContainers.push({ name: 'evil', image: 'registry.example/evil:1' }),
  },
];

/** These ways; one test each. */
export const TAMPERINGS: readonly Tampering[] = [
  ...SHAPE,
  ...POD_FIELDS,
  ...VOLUMES,
  ...CONTAINERS,
];
