/** Warnings about pods and templates that are allowed and hardly meant. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { acceptedByRules, resourceNamed, withPath } from '../../support/resource-rules.ts';

const POD: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'test-namespace' },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
};
const PORTS = 'spec.containers.0.ports';
const ENV = 'spec.containers.0.env';
const NO_MATCH = 'a null labelSelector results in matching no pod';

/** As kube-apiserver 1.36.3 said them. */
const SAID: readonly (readonly [string, Json, readonly string[]])[] = [
  [PORTS, [{ containerPort: 80 }, { containerPort: 81 }], []],
  [
    PORTS,
    [{ containerPort: 80 }, { containerPort: 80 }],
    ['containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  ],
  [
    PORTS,
    [{ containerPort: 80 }, { containerPort: 80, hostPort: 80 }],
    ['containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]'],
  ],
  [
    PORTS,
    [
      { containerPort: 80, hostPort: 80, hostIP: '1.1.1.1' },
      { containerPort: 80, hostPort: 80 },
    ],
    [
      'containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]',
    ],
  ],
  [
    ENV,
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ],
    [
      'containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ],
  ],
  [
    ENV,
    [
      { name: 'A', value: '1' },
      { name: 'A', value: '$(A)2' },
    ],
    [],
  ],
  [
    'spec.containers.0.resources',
    { requests: { memory: '100m' } },
    [
      'containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
    ],
  ],
  [
    'spec.nodeSelector',
    { 'beta.kubernetes.io/os': 'linux' },
    ['nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  ],
  [
    'spec.affinity',
    { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'a' }] } },
    [
      `affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: ${NO_MATCH}`,
    ],
  ],
];

test('a pod that is allowed and hardly meant is warned of', () => {
  const pods = resourceNamed('pods');
  for (const [path, value, warnings] of SAID) {
    const pod = acceptedByRules(pods, withPath(POD, path, value));
    const expected = warnings.map((it) => `spec.${it}`);
    assert.deepEqual(pods.rules.warnings?.(pod), expected, path);
    assert.deepEqual(pods.rules.warnings?.(pod, pod), [], 'updates raise none');
  }
});

test('files that lie upon one another are warned of', () => {
  const pods = resourceNamed('pods');
  const items = [
    { key: 'a', path: 'x' },
    { key: 'b', path: 'x/y' },
  ];
  const volumes = [{ name: 'v', configMap: { name: 'c', items } }];
  const pod = acceptedByRules(pods, withPath(POD, 'spec.volumes', volumes));
  assert.deepEqual(pods.rules.warnings?.(pod), [
    'volume "v" (ConfigMap "c"): overlapping paths: "x/y" with "x"',
  ]);
});

test('a template is warned of when it is new, and not again', () => {
  const daemonSets = resourceNamed('daemonsets');
  const body: JsonObject = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'd', namespace: 'test-namespace' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'x' }], terminationGracePeriodSeconds: -1 },
      },
    },
  };
  const daemonSet = acceptedByRules(daemonSets, body);
  assert.deepEqual(daemonSets.rules.warnings?.(daemonSet), [
    'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1',
  ]);
  assert.deepEqual(daemonSets.rules.warnings?.(daemonSet, daemonSet), []);
});
