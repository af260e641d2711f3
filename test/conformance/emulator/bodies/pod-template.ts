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
    ...(seeded.next() < 0.1 ? { hostNetwork: true } : {}),
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
  ['containers.0.image', 5],
  ['containers.0.name'],
  ['containers.0.name', 'Bad_Name'],
  ['containers.0.name', 'renamed'],
  ['containers.0.unknownMember', 1],
  ['containers.0.Image', 'wrong-case'],
  ['containers.0.imagePullPolicy', 'Never'],
  ['containers.0.ports', [{ containerPort: 0 }]],
  ['containers.0.ports', [{ containerPort: '80' }]],
  ['containers.0.ports', [{ containerPort: 70000 }]],
  ['containers.0.env', [{ name: '' }]],
  ['containers.0.env', [{ name: 'A', value: 5 }]],
  ['containers.0.resources.limits.cpu', '12parsecs'],
  ['containers.0.resources', { requests: { cpu: '2' }, limits: { cpu: '1' } }],
  ['containers.0.resources', { requests: { cpu: '100m' } }],
  ['containers.0.resources', { limits: { cpu: 2, memory: '1.5Gi' } }],
  ['containers.0.resources', { limits: { memory: '1000Ki', 'ephemeral-storage': '10G' } }],
  ['containers.0.lifecycle', { preStop: { sleep: { seconds: 5 } } }],
  ['containers.0.lifecycle', { postStart: { httpGet: { port: 80 } } }],
  ['containers.0.volumeMounts', [{ name: 'absent', mountPath: '/absent' }]],
  ['containers', []],
  ['containers', null],
  ['containers'],
  ['containers', { name: 'main' }],
  ['containers.1', { name: 'main', image: 'registry.example/twin:1' }],
  ['containers.1', { name: 'third', image: 'registry.example/third@sha256:0123' }],
  ['initContainers', [{ name: 'main', image: 'x' }]],
  ['initContainers', [{ name: 'init', image: 'x', restartPolicy: 'Always' }]],
  ['restartPolicy', 'Never'],
  ['restartPolicy', 'Sometimes'],
  ['restartPolicy', ''],
  ['terminationGracePeriodSeconds', 0],
  ['terminationGracePeriodSeconds', 'soon'],
  ['terminationGracePeriodSeconds', 1.5],
  ['nodeSelector.pool', 'b'],
  ['nodeSelector.pool', 5],
  ['nodeName', 'node-9'],
  ['hostNetwork', 'yes'],
  ['hostname', 'host'],
  ['serviceAccountName', 'absent'],
  ['serviceAccount', 'default'],
  ['priorityClassName', 'absent'],
  ['priorityClassName', 'system-cluster-critical'],
  ['priority', 5],
  ['tolerations', [{ key: 'k', value: 'v', effect: 'NoExecute', tolerationSeconds: 5 }]],
  [
    'tolerations',
    [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
  ],
  ['tolerations', []],
  ['securityContext', { seccompProfile: { type: 'RuntimeDefault' } }],
  ['volumes', [{ name: 'v' }]],
  ['volumes', [{ name: 'Bad_Volume', emptyDir: {} }]],
  [
    'volumes',
    [
      { name: 'v', emptyDir: {} },
      { name: 'v', hostPath: { path: '/x' } },
    ],
  ],
  ['volumes', [{ name: 'v', emptyDir: { sizeLimit: 'huge' } }]],
  ['volumes', [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }]],
  ['runtimeClassName', 'absent'],
  ['unknownMember', 'x'],
];
