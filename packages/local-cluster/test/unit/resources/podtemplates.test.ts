/** PodTemplates: defaults of a pod, a generation that counts templates, and what is refused (as kube-apiserver 1.36 answers). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import { POD_TEMPLATES } from '../../../src/resources/podtemplates/definition.ts';

const { rules } = POD_TEMPLATES;

function podTemplate(image: string, generation?: number): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: {
      name: 't',
      namespace: 'n',
      uid: 'u-1',
      resourceVersion: '7',
      creationTimestamp: '2026-11-25T15:48:54Z',
      ...(generation === undefined ? {} : { generation }),
    },
    template: { metadata: {}, spec: { containers: [{ name: 'c', image }] } },
  };
}

test('a template has the defaults of a pod, and keeps them', () => {
  const once = rules.applyDefaults(podTemplate('c:1'));
  assert.match(JSON.stringify(once['template']), /"restartPolicy":"Always"/);
  assert.equal(rules.applyDefaults(once), once);
});

test('another template is another generation, other labels are not', () => {
  const first = podTemplate('c:1', 1);
  const labelled = { ...first, metadata: { ...first.metadata, labels: { a: 'b' } } };
  assert.equal(rules.prepareForUpdate(labelled, first).metadata.generation, 1);
  assert.equal(rules.prepareForUpdate(podTemplate('c:2'), first).metadata.generation, 2);
});

test('a template without containers is refused by its field', () => {
  const empty = { ...podTemplate('c:1'), template: { spec: { containers: [] } } };
  const fields = rules.validateCreate(empty).map(({ field }) => field);
  assert.ok(fields.includes('template.spec.containers'), fields.join(', '));
});
