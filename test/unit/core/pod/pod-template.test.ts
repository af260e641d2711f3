/** The created pod's exact shape (spec 2.8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import {
  hasTemplateLabels,
  podFromTemplate,
  prepareTemplate,
} from '../../../../src/core/pod/pod-template.ts';
import { OWNER_UID, daemonSet } from '../../../support/core-fixtures.ts';

function build(set: DaemonSetObject): JsonObject {
  return buildOf(set, 'hash');
}

function buildOf(set: DaemonSetObject, currentHash: string | undefined): JsonObject {
  const template = prepareTemplate(set, currentHash);
  return podFromTemplate(template, { node: nodeName('n1'), name: 'agent-slot' });
}

const pinned = {
  nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
};

describe('buildPod (spec 2.8)', () => {
  it('makes exactly this pod of a small template', () => {
    const pod = build(daemonSet({ podSpec: { containers: [] } }));
    const { spec, ...rest } = pod;
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'agent-slot',
        namespace: 'ns',
        labels: { app: 'agent', 'controller-revision-hash': 'hash' },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'DaemonSet',
            name: 'agent',
            uid: OWNER_UID,
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
    });
    const { tolerations, ...others } = spec as JsonObject;
    assert.equal((tolerations as readonly unknown[]).length, 6);
    assert.deepEqual(others, {
      containers: [],
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: pinned } },
    });
  });

  it('copies annotations and finalizers, and sets the generation label if it parses', () => {
    const set = daemonSet({
      metadata: { annotations: { 'deprecated.daemonset.template.generation': '3' } },
      templateMetadata: {
        labels: { app: 'agent' },
        annotations: { note: 'x' },
        finalizers: ['example.com/hold'],
      },
    });
    const metadata = build(set)['metadata'] as JsonObject;
    assert.deepEqual(metadata['annotations'], { note: 'x' });
    assert.deepEqual(metadata['finalizers'], ['example.com/hold']);
    assert.deepEqual(metadata['labels'], {
      app: 'agent',
      'pod-template-generation': '3',
      'controller-revision-hash': 'hash',
    });
  });

  for (const hash of [undefined, '']) {
    it(`sets no hash label when the hash is ${hash === '' ? 'empty' : 'unknown'}`, () => {
      const pod = buildOf(daemonSet(), hash);
      assert.deepEqual((pod['metadata'] as JsonObject)['labels'], { app: 'agent' });
    });
  }

  it('replaces required node affinity wholly, and keeps all other affinity and the nodeSelector', () => {
    const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1 }] };
    const set = daemonSet({
      podSpec: {
        nodeSelector: { disk: 'ssd' },
        affinity: {
          podAntiAffinity: { any: 'thing' },
          nodeAffinity: {
            ...preferred,
            requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}, {}] },
          },
        },
      },
    });
    const spec = build(set)['spec'] as JsonObject;
    assert.deepEqual(spec['nodeSelector'], { disk: 'ssd' });
    assert.equal('nodeName' in spec, false);
    assert.deepEqual(spec['affinity'], {
      podAntiAffinity: { any: 'thing' },
      nodeAffinity: { ...preferred, requiredDuringSchedulingIgnoredDuringExecution: pinned },
    });
  });

  it('keeps the tolerations of the template, whole, before those that are added (spec 2.6)', () => {
    const own = { key: 'gpu', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 };
    const spec = build(daemonSet({ podSpec: { tolerations: [own], containers: [] } }))['spec'];
    const [first, second] = (spec as JsonObject)['tolerations'] as readonly JsonObject[];
    assert.deepEqual(first, own);
    assert.deepEqual(second, {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
    });
  });

  it('has no empty annotations or finalizers, as Go would print it', () => {
    const templateMetadata = { labels: { app: 'agent' }, annotations: {}, finalizers: [] };
    const metadata = build(daemonSet({ templateMetadata }))['metadata'] as JsonObject;
    assert.deepEqual(Object.keys(metadata), ['name', 'namespace', 'labels', 'ownerReferences']);
  });

  it('lets fields that it does not know survive', () => {
    const podSpec = { futureField: { deep: [1, null] }, containers: [{ name: 'x', odd: true }] };
    const spec = build(daemonSet({ podSpec }))['spec'] as JsonObject;
    assert.deepEqual(spec['futureField'], { deep: [1, null] });
    assert.deepEqual(spec['containers'], [{ name: 'x', odd: true }]);
  });

  it('does not touch the template it was made from', () => {
    const set = daemonSet({ podSpec: { tolerations: [] } });
    const before = JSON.stringify(set);
    build(set);
    assert.equal(JSON.stringify(set), before);
  });

  it('makes something of an empty template, without namespace and labels', () => {
    const bare = daemonSet({ metadata: { namespace: undefined }, spec: { template: {} } });
    const pod = buildOf(bare, undefined);
    assert.deepEqual(Object.keys(pod['metadata'] as JsonObject), [
      'name',
      'labels',
      'ownerReferences',
    ]);
    assert.equal(hasTemplateLabels(bare), false);
    assert.equal(hasTemplateLabels(daemonSet()), true);
  });
});
