// Differences between a manifest and what a cluster has: all of them, and none that an API server made.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { applyDaemonSetDefaults } from '@rollcall/local-cluster/resources/daemonsets.ts';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import { compareManifest } from '../../../../src/core/fleet/compare-manifest.ts';
import { manifestOf } from '../../../support/fleet-samples.ts';

const schema = createSchema();

/** As an API server would store it and send it. */
function stored(manifest: JsonObject): JsonObject {
  const named = {
    ...manifest,
    metadata: { name: 'agent', ...(manifest['metadata'] as JsonObject) },
  };
  const kind = { group: 'apps', version: 'v1', kind: 'DaemonSet' };
  const decoded = schema.decode(kind, named);
  assert.equal(decoded.kind, 'decoded', JSON.stringify(decoded));
  return applyDaemonSetDefaults(decoded.object);
}

const EVERYTHING = manifestOf({
  initContainers: [{ name: 'init', image: 'init:latest', command: ['true'] }],
  containers: [
    {
      name: 'agent',
      image: 'agent:1',
      args: ['--all'],
      env: [
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'EMPTY', value: '' },
      ],
      ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 81, protocol: 'UDP' }],
      resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { cpu: 1 } },
      livenessProbe: { httpGet: { port: 80, path: '/' }, initialDelaySeconds: 0 },
      readinessProbe: { tcpSocket: { port: 80 } },
      volumeMounts: [{ name: 'state', mountPath: '/state', readOnly: false }],
      securityContext: { privileged: false, runAsUser: 0 },
      lifecycle: { preStop: { exec: { command: ['true'] } } },
    },
  ],
  hostNetwork: false,
  serviceAccountName: 'agent',
  tolerations: [{ operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
  volumes: [
    { name: 'state', emptyDir: { sizeLimit: '1024Mi' } },
    { name: 'config', configMap: { name: 'c' } },
    { name: 'key', secret: { secretName: 's' } },
    { name: 'host', hostPath: { path: '/' } },
    {
      name: 'all',
      projected: {
        sources: [{ serviceAccountToken: { path: 't' } }, { downwardAPI: { items: [] } }],
      },
    },
  ],
});

function podSpec(manifest: JsonObject, changes: JsonObject): JsonObject {
  const spec = manifest['spec'] as JsonObject;
  const template = spec['template'] as JsonObject;
  const inner = { ...(template['spec'] as JsonObject), ...changes };
  return { ...manifest, spec: { ...spec, template: { ...template, spec: inner } } };
}

const TEMPLATE = 'spec.template.spec';

describe('compareManifest', () => {
  for (const [what, manifest] of [
    ['a small manifest', manifestOf()],
    ['one with everything', EVERYTHING],
    ['one on the host', podSpec(EVERYTHING, { hostNetwork: true })],
  ] as const) {
    it(`finds nothing in what an API server made of ${what}`, () => {
      assert.deepEqual(compareManifest(manifest, stored(manifest)), []);
    });
  }

  const DRIFT: readonly (readonly [what: string, live: JsonObject, fields: readonly string[]])[] = [
    [
      'another image, whatever the order of containers',
      podSpec(manifestOf(), {
        containers: [{ name: 'agent', image: 'b:1', env: [{ name: 'TOKEN', value: 'hunter2' }] }],
      }),
      [`${TEMPLATE}.containers[agent].image`],
    ],
    [
      'a restart by kubectl, which no apply would notice',
      {
        ...manifestOf(),
        spec: {
          ...(manifestOf()['spec'] as JsonObject),
          template: {
            ...((manifestOf()['spec'] as JsonObject)['template'] as JsonObject),
            metadata: {
              labels: { app: 'agent' },
              annotations: { 'kubectl.kubernetes.io/restartedAt': 'x' },
            },
          },
        },
      },
      ['spec.template.metadata.annotations'],
    ],
    [
      'a container more',
      podSpec(manifestOf(), {
        containers: [
          {
            name: 'agent',
            image: 'registry.example/agent:1',
            env: [{ name: 'TOKEN', value: 'hunter2' }],
          },
          { name: 'miner', image: 'm:1' },
        ],
      }),
      [`${TEMPLATE}.containers[miner]`],
    ],
    [
      'an environment variable less',
      podSpec(manifestOf(), {
        containers: [{ name: 'agent', image: 'registry.example/agent:1', env: [] }],
      }),
      [`${TEMPLATE}.containers[agent].env`],
    ],
    ['the host network', podSpec(manifestOf(), { hostNetwork: true }), [`${TEMPLATE}.hostNetwork`]],
    [
      'a toleration',
      podSpec(manifestOf(), { tolerations: [{ operator: 'Exists' }] }),
      [`${TEMPLATE}.tolerations`],
    ],
    [
      'a node selector',
      podSpec(manifestOf(), { nodeSelector: { a: 'b' } }),
      [`${TEMPLATE}.nodeSelector`],
    ],
    [
      'a strategy of its own',
      {
        ...manifestOf(),
        spec: { ...(manifestOf()['spec'] as JsonObject), updateStrategy: { type: 'OnDelete' } },
      },
      ['spec.updateStrategy'],
    ],
    [
      'a grace that is no default',
      podSpec(manifestOf(), { terminationGracePeriodSeconds: 5 }),
      [`${TEMPLATE}.terminationGracePeriodSeconds`],
    ],
  ];
  for (const [what, live, fields] of DRIFT) {
    it(`finds ${what}`, () => {
      const found = compareManifest(manifestOf(), stored(live));
      assert.deepEqual(
        found.map(({ field }) => field),
        fields,
      );
    });
  }

  it('finds a flag that was asked for and is not there, unless the server leaves it out', () => {
    const wanted = podSpec(manifestOf(), { hostPID: false, automountServiceAccountToken: false });
    const found = compareManifest(wanted, stored(manifestOf()));
    assert.deepEqual(found, [{ field: `${TEMPLATE}.automountServiceAccountToken`, to: false }]);
  });

  it('compares labels and annotations of the DaemonSet that the manifest states, and no others', () => {
    const wanted = {
      ...manifestOf(),
      metadata: { labels: { team: 'a' }, annotations: { note: 'x' } },
    };
    const metadata = { labels: { team: 'b', other: '1' }, annotations: { other: '2' } };
    assert.deepEqual(compareManifest(wanted, stored({ ...manifestOf(), metadata })), [
      { field: 'metadata.labels[team]', from: 'b', to: 'a' },
      { field: 'metadata.annotations[note]', to: 'x' },
    ]);
  });

  it('is not misled by a cluster that sends something else', () => {
    for (const live of [{}, { spec: [] }, { spec: { template: 1, selector: null } }]) {
      assert.ok(compareManifest(manifestOf(), live).length > 0);
    }
  });
});
