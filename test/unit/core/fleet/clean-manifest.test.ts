// What an API server wrote into a manifest is taken out, and nothing else.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cleanManifest } from '../../../../src/core/fleet/judge-manifest.ts';

describe('cleanManifest', () => {
  it('takes out what one cluster wrote', () => {
    const exported = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: 'agent',
        uid: 'u',
        resourceVersion: '7',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        managedFields: [{}],
        labels: { app: 'agent' },
        annotations: {
          'deprecated.daemonset.template.generation': '3',
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          note: 'kept',
        },
      },
      spec: {
        template: {
          metadata: {
            creationTimestamp: null,
            labels: {
              app: 'agent',
              'controller-revision-hash': 'x',
              'pod-template-generation': '3',
            },
          },
          spec: {},
        },
      },
      status: { numberReady: 1 },
    };
    assert.deepEqual(cleanManifest(exported), {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', labels: { app: 'agent' }, annotations: { note: 'kept' } },
      spec: { template: { metadata: { labels: { app: 'agent' } }, spec: {} } },
    });
  });

  it('leaves what is no manifest to who judges it', () => {
    const odd = { metadata: 'text', spec: ['list'] };
    assert.deepEqual(cleanManifest(odd), odd);
    assert.deepEqual(cleanManifest({ spec: { template: 1 } }), { spec: { template: 1 } });
  });
});
