/**
 * Pod specs: valid ones of many shapes, and changes by path under the spec. Pods and DaemonSets share them.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Seeded } from '../../scenarios/seeded.ts';
import { sometimes } from './body.ts';

/** A valid pod spec; `isTemplate` keeps to what a DaemonSet's template may say. */
export function makePodSpec(
  seeded: Seeded,
  { nodeName, isTemplate }: { readonly nodeName?: string; readonly isTemplate: boolean },
): JsonObject {
  return {
    containers: makeContainers(seeded),
    ...sometimes(seeded, 0.15, {
      initContainers: [
        { name: 'prepare', image: 'registry.example/prepare:1' },
        { name: 'sidecar', image: 'registry.example/sidecar', restartPolicy: 'Always' },
      ],
      tolerations: [
        { key: 'example.com/pool', operator: 'Exists', effect: 'NoSchedule' },
        { operator: 'Exists' },
      ],
      nodeSelector: { 'example.com/pool': 'a' },
      terminationGracePeriodSeconds: 5,
      serviceAccountName: 'default',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: 'system-node-critical',
      dnsPolicy: 'ClusterFirstWithHostNet',
      securityContext: { runAsUser: 1000, fsGroup: 2000, runAsNonRoot: true },
      schedulerName: 'another-scheduler',
      imagePullSecrets: [{ name: 'pull-secret' }],
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['alias'] }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [{ key: 'example.com/pool', operator: 'In', values: ['a', 'b'] }],
              },
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 10, preference: { matchExpressions: [{ key: 'disk', operator: 'Exists' }] } },
          ],
        },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'topology.kubernetes.io/zone',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { app: 'agent' } },
        },
      ],
      readinessGates: [{ conditionType: 'example.com/gate' }],
      volumes: makeVolumes(),
      shareProcessNamespace: true,
      preemptionPolicy: 'PreemptLowerPriority',
    }),
    ...sometimes(
      seeded,
      0.2,
      isTemplate ? { restartPolicy: 'Always' } : { restartPolicy: 'Never' },
    ),
    ...(seeded.next() < 0.1 ? { hostNetwork: true, hostPID: true } : {}),
    ...(!isTemplate && nodeName !== undefined && seeded.next() < 0.5 ? { nodeName } : {}),
  };
}

function makeContainers(seeded: Seeded): Json {
  const main = {
    name: 'main',
    image: seeded.pick(['registry.example/agent:1', 'registry.example/agent', 'agent:latest']),
    ...sometimes(seeded, 0.25, {
      command: ['/agent'],
      args: ['--verbose', '$(NODE_NAME)'],
      ports: [
        { containerPort: 8080, name: 'http' },
        { containerPort: 9000, protocol: 'UDP' },
      ],
      env: [
        { name: 'LEVEL', value: 'info' },
        { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
      ],
      envFrom: [{ configMapRef: { name: 'settings' } }, { prefix: 'P_', secretRef: { name: 's' } }],
      resources: {
        requests: { cpu: '100m', memory: '64Mi' },
        limits: { cpu: '1', memory: '0.5Gi' },
      },
      livenessProbe: { httpGet: { path: '/live', port: 'http' }, periodSeconds: 5 },
      readinessProbe: { tcpSocket: { port: 8080 } },
      startupProbe: { exec: { command: ['true'] }, failureThreshold: 30 },
      lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
      securityContext: { privileged: true, capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
      imagePullPolicy: 'Always',
      workingDir: '/work',
      terminationMessagePolicy: 'FallbackToLogsOnError',
      stdin: true,
    }),
  };
  if (seeded.next() < 0.75) return [main];
  return [main, { name: 'second', image: 'registry.example/second:2', tty: true }];
}

function makeVolumes(): Json {
  return [
    { name: 'scratch', emptyDir: {} },
    { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'host', hostPath: { path: '/var/log', type: 'Directory' } },
    { name: 'settings', configMap: { name: 'settings', items: [{ key: 'a', path: 'a' }] } },
    { name: 'keys', secret: { secretName: 'keys', optional: true } },
    {
      name: 'about',
      downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
    },
    {
      name: 'all',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token' } },
          { configMap: { name: 'settings', optional: true } },
        ],
      },
    },
  ];
}

/** Changes of a pod spec: `[path under spec, value]`. */
export const POD_SPEC_CHANGES: readonly (readonly [string, Json?])[] = [
  ['containers.0.image', 'registry.example/agent:2'],
  ['containers.0.image'],
  ['containers.0.image', ''],
  ['containers.0.image', ' leading-space'],
  ['containers.0.image', 5],
  ['containers.0.name'],
  ['containers.0.name', 'Bad_Name'],
  ['containers.0.name', ''],
  ['containers.0.name', 'renamed'],
  ['containers.0.unknownMember', 1],
  ['containers.0.Image', 'wrong-case'],
  ['containers.0.imagePullPolicy', 'Sometimes'],
  ['containers.0.imagePullPolicy', 'Never'],
  ['containers.0.terminationMessagePolicy', 'Nowhere'],
  ['containers.0.ports', [{ containerPort: 0 }]],
  ['containers.0.ports', [{ containerPort: 80, protocol: 'ICMP' }]],
  ['containers.0.ports', [{ containerPort: 80, name: 'Too_Long_And_Bad_Name' }]],
  [
    'containers.0.ports',
    [
      { containerPort: 80, name: 'a1' },
      { containerPort: 81, name: 'a1' },
    ],
  ],
  ['containers.0.ports', [{ containerPort: 80 }, { containerPort: 80 }]],
  ['containers.0.ports', [{ containerPort: '80' }]],
  ['containers.0.ports', [{ containerPort: 70000 }]],
  ['containers.0.ports', [{ containerPort: 80, hostPort: 8080 }]],
  ['containers.0.env', [{ name: '' }]],
  ['containers.0.env', [{ name: 'A=B', value: 'x' }]],
  [
    'containers.0.env',
    [
      { name: 'A', value: 'x' },
      { name: 'A', value: 'y' },
    ],
  ],
  [
    'containers.0.env',
    [{ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  ],
  ['containers.0.env', [{ name: 'A', valueFrom: {} }]],
  ['containers.0.env', [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.nowhere' } } }]],
  ['containers.0.env', [{ name: 'A', valueFrom: { configMapKeyRef: { key: 'k' } } }]],
  ['containers.0.env', [{ name: 'A', value: 5 }]],
  ['containers.0.envFrom', [{}]],
  ['containers.0.envFrom', [{ configMapRef: { name: 'Bad Name' } }]],
  ['containers.0.resources.limits.cpu', '500m'],
  ['containers.0.resources.limits.cpu', '12parsecs'],
  ['containers.0.resources.limits.cpu', 2],
  ['containers.0.resources.limits.cpu', -1],
  ['containers.0.resources.limits.cpu', '0.0005'],
  ['containers.0.resources.limits.memory', '1.5Gi'],
  ['containers.0.resources.limits.memory', '1000Ki'],
  ['containers.0.resources.limits.memory', '1e3'],
  ['containers.0.resources.limits', { colour: '1' }],
  ['containers.0.resources.limits', { 'example.com/gpu': '1' }],
  ['containers.0.resources.limits', { 'example.com/gpu': '1500m' }],
  ['containers.0.resources.limits', { 'hugepages-2Mi': '4Mi' }],
  ['containers.0.resources', { requests: { cpu: '2' }, limits: { cpu: '1' } }],
  ['containers.0.resources', { requests: { cpu: '100m' } }],
  ['containers.0.resources', { limits: { cpu: '100m', memory: '1Gi' } }],
  ['containers.0.resources.requests.memory', '128974848'],
  ['containers.0.resources.requests.ephemeral-storage', '10G'],
  ['containers.0.livenessProbe', {}],
  ['containers.0.livenessProbe', { exec: { command: [] } }],
  ['containers.0.livenessProbe', { exec: { command: ['a'] }, tcpSocket: { port: 1 } }],
  ['containers.0.livenessProbe', { tcpSocket: { port: 0 } }],
  ['containers.0.livenessProbe', { httpGet: { port: 'Bad_Port' } }],
  ['containers.0.livenessProbe', { httpGet: { port: 80 }, successThreshold: 3 }],
  ['containers.0.livenessProbe', { httpGet: { port: 80 }, periodSeconds: -1 }],
  ['containers.0.livenessProbe', { grpc: { port: 80 }, terminationGracePeriodSeconds: 3 }],
  ['containers.0.readinessProbe', { httpGet: { port: 80, scheme: 'FTP' } }],
  ['containers.0.readinessProbe', { tcpSocket: { port: 80 }, terminationGracePeriodSeconds: 3 }],
  ['containers.0.lifecycle', { preStop: {} }],
  ['containers.0.lifecycle', { preStop: { sleep: { seconds: 5 } } }],
  ['containers.0.lifecycle', { postStart: { httpGet: { port: 80 } } }],
  ['containers.0.volumeMounts', [{ name: 'absent', mountPath: '/absent' }]],
  ['containers.0.volumeMounts', [{ name: 'scratch' }]],
  ['containers.0.volumeMounts', [{ name: 'scratch', mountPath: '/scratch' }]],
  ['containers.0.securityContext', { runAsUser: -1 }],
  ['containers.0.securityContext', { allowPrivilegeEscalation: false, privileged: true }],
  ['containers.0.securityContext', { capabilities: { add: ['CAP_NET_ADMIN'] } }],
  ['containers.0.restartPolicy', 'Always'],
  ['containers', []],
  ['containers', null],
  ['containers'],
  ['containers', { name: 'main' }],
  ['containers.0', null],
  ['containers.1', { name: 'main', image: 'registry.example/twin:1' }],
  ['containers.1', { name: 'third', image: 'registry.example/third@sha256:0123' }],
  ['initContainers', [{ name: 'main', image: 'x' }]],
  ['initContainers', [{ name: 'init', image: 'x', readinessProbe: { tcpSocket: { port: 1 } } }]],
  [
    'initContainers',
    [
      {
        name: 'init',
        image: 'x',
        restartPolicy: 'Always',
        livenessProbe: { tcpSocket: { port: 1 } },
      },
    ],
  ],
  ['initContainers', [{ name: 'init', image: 'x', restartPolicy: 'OnFailure' }]],
  ['ephemeralContainers', [{ name: 'debug', image: 'x' }]],
  ['restartPolicy', 'Never'],
  ['restartPolicy', 'Sometimes'],
  ['restartPolicy', ''],
  ['dnsPolicy', 'None'],
  ['dnsPolicy', 'Custom'],
  ['dnsConfig', { nameservers: ['10.0.0.10'], options: [{ name: 'ndots', value: '2' }] }],
  ['dnsConfig', { nameservers: ['not-an-ip'] }],
  ['terminationGracePeriodSeconds', 0],
  ['terminationGracePeriodSeconds', -5],
  ['terminationGracePeriodSeconds', 'soon'],
  ['terminationGracePeriodSeconds', 1.5],
  ['activeDeadlineSeconds', 10],
  ['activeDeadlineSeconds', 0],
  ['nodeSelector', { 'Bad Key!': 'x' }],
  ['nodeSelector', { key: 'bad value!' }],
  ['nodeSelector.pool', 'b'],
  ['nodeSelector.pool', 5],
  ['nodeName', 'node-9'],
  ['nodeName', 'Bad_Node'],
  ['hostNetwork', true],
  ['hostNetwork', 'yes'],
  ['hostname', 'host'],
  ['hostname', 'Bad.Host'],
  ['subdomain', 'sub'],
  ['serviceAccountName', 'absent'],
  ['serviceAccountName', 'Bad_Name'],
  ['serviceAccount', 'default'],
  ['priorityClassName', 'absent'],
  ['priorityClassName', 'system-cluster-critical'],
  ['priority', 5],
  ['preemptionPolicy', 'Never'],
  ['tolerations', [{ key: 'k', operator: 'Near' }]],
  ['tolerations', [{ operator: 'Equal', value: 'v' }]],
  ['tolerations', [{ key: 'k', operator: 'Exists', value: 'v' }]],
  ['tolerations', [{ key: 'k', value: 'v', effect: 'NoSchedule', tolerationSeconds: 5 }]],
  ['tolerations', [{ key: 'k', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }]],
  ['tolerations', [{ key: 'k', effect: 'Never' }]],
  ['tolerations', [{ key: 'Bad Key', operator: 'Exists' }]],
  [
    'tolerations',
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
  ],
  ['tolerations', []],
  [
    'affinity',
    { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
  ],
  [
    'affinity',
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In' }] }],
        },
      },
    },
  ],
  [
    'affinity',
    {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'k', operator: 'Gt', values: ['a', 'b'] }] },
            { matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['u'] }] },
          ],
        },
      },
    },
  ],
  [
    'affinity',
    {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }],
      },
    },
  ],
  [
    'affinity',
    {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'a' } } },
        ],
      },
    },
  ],
  ['affinity', { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } }],
  ['topologySpreadConstraints', [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Maybe' }]],
  ['readinessGates', [{ conditionType: 'bad type!' }]],
  ['schedulingGates', [{ name: 'example.com/gate' }]],
  ['securityContext', { runAsUser: -1 }],
  ['securityContext', { sysctls: [{ name: 'Bad!', value: '1' }] }],
  ['securityContext', { seccompProfile: { type: 'RuntimeDefault' } }],
  ['securityContext', { seccompProfile: { type: 'Localhost' } }],
  ['hostAliases', [{ ip: 'bad' }]],
  ['imagePullSecrets', [{ name: '' }]],
  ['volumes', [{ name: 'v' }]],
  ['volumes', [{ name: 'Bad_Volume', emptyDir: {} }]],
  [
    'volumes',
    [
      { name: 'v', emptyDir: {} },
      { name: 'v', hostPath: { path: '/x' } },
    ],
  ],
  ['volumes', [{ name: 'v', emptyDir: {}, hostPath: { path: '/x' } }]],
  ['volumes', [{ name: 'v', emptyDir: { sizeLimit: 'huge' } }]],
  ['volumes', [{ name: 'v', hostPath: {} }]],
  ['volumes', [{ name: 'v', hostPath: { path: '/a/../b' } }]],
  ['volumes', [{ name: 'v', hostPath: { path: '/a', type: 'Thing' } }]],
  ['volumes', [{ name: 'v', secret: {} }]],
  ['volumes', [{ name: 'v', secret: { secretName: 's', defaultMode: 4096 } }]],
  ['volumes', [{ name: 'v', configMap: {} }]],
  ['volumes', [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path: '../up' }] } }]],
  [
    'volumes',
    [
      {
        name: 'v',
        projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 5 } }] },
      },
    ],
  ],
  ['volumes', [{ name: 'v', downwardAPI: { items: [{ path: 'p' }] } }]],
  ['volumes', [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]],
  ['overhead', { cpu: '1' }],
  ['os', { name: 'linux' }],
  ['os', { name: 'plan9' }],
  ['runtimeClassName', 'absent'],
  ['unknownMember', 'x'],
];
