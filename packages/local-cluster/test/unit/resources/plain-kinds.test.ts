/** Kinds of few rules: PodTemplates, ControllerRevisions, Secrets, bindings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import {
  acceptedByRules,
  causesOf,
  createByRules,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../support/resource-rules.ts';

const { rules } = resourceNamed('podtemplates');

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

const metadata = { name: 'x', namespace: 'test-namespace' };

/** Causes of a change of one member. */
function causesOfChange(plural: string, body: JsonObject, path: string): readonly string[] {
  const resource = resourceNamed(plural);
  const current = acceptedByRules(resource, body);
  const next = withPath(current, path, 'another');
  const outcome = updateByRules(resource, { next, current });
  return outcome.kind === 'invalid' ? causesOf(outcome.errors) : [];
}

test('a ControllerRevision has data that never change, and a number that may', () => {
  const revisions = resourceNamed('controllerrevisions');
  const outcome = createByRules(revisions, { metadata, revision: 1 });
  assert.deepEqual(outcome.kind === 'invalid' && causesOf(outcome.errors), [
    'FieldValueRequired data',
  ]);
  const current = acceptedByRules(revisions, { metadata, data: { a: 1 }, revision: 1 });
  const next = { ...current, revision: 2 };
  assert.equal(updateByRules(revisions, { next, current }).kind, 'accepted');
  const other = updateByRules(revisions, { next: { ...current, data: { a: 2 } }, current });
  assert.deepEqual(other.kind === 'invalid' && causesOf(other.errors), ['FieldValueInvalid data']);
});

test('a Secret is Opaque unless it says otherwise, and folds its texts into data', () => {
  const body = { metadata, data: { a: 'Yg==' }, stringData: { c: 'd' } };
  const { type, data, stringData } = acceptedByRules(resourceNamed('secrets'), body);
  assert.deepEqual([type, data, stringData], ['Opaque', { a: 'Yg==', c: 'ZA==' }, undefined]);
  assert.deepEqual(causesOfChange('secrets', body, 'type'), ['FieldValueInvalid type']);
});

test('a binding has the group of RBAC where it says none, and keeps its role', () => {
  const body = {
    metadata,
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [
      { kind: 'User', name: 'ann' },
      { kind: 'ServiceAccount', name: 'agent' },
    ],
  };
  const { roleRef, subjects } = acceptedByRules(resourceNamed('rolebindings'), body);
  const apiGroup = 'rbac.authorization.k8s.io';
  assert.deepEqual(roleRef, { kind: 'Role', name: 'r', apiGroup });
  assert.deepEqual(subjects, [
    { kind: 'User', name: 'ann', apiGroup },
    { kind: 'ServiceAccount', name: 'agent' },
  ]);
  assert.deepEqual(causesOfChange('rolebindings', body, 'roleRef.name'), [
    'FieldValueInvalid roleRef',
  ]);
});

test('names, labels, owners and finalizers of every kind are looked at', () => {
  const configMaps = resourceNamed('configmaps');
  const refused: readonly (readonly [string, JsonObject[string], string])[] = [
    ['metadata.name', 'A_', 'FieldValueInvalid metadata.name'],
    ['metadata.namespace', undefined, 'FieldValueRequired metadata.namespace'],
    ['metadata.labels', { 'a b': 'c' }, 'FieldValueInvalid metadata.labels'],
    ['metadata.labels', { a: 'b c' }, 'FieldValueInvalid metadata.labels'],
    ['metadata.annotations', { 'a b': '' }, 'FieldValueInvalid metadata.annotations'],
    ['metadata.finalizers', ['a b'], 'FieldValueInvalid metadata.finalizers'],
    [
      'metadata.ownerReferences',
      [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: '' }],
      'FieldValueInvalid metadata.ownerReferences.uid',
    ],
  ];
  for (const [path, value, cause] of refused) {
    const outcome = createByRules(configMaps, withPath({ metadata }, path, value));
    assert.deepEqual(outcome.kind === 'invalid' && causesOf(outcome.errors), [cause]);
  }
  for (const path of ['metadata.uid', 'metadata.namespace']) {
    const causes = causesOfChange('configmaps', { metadata }, path);
    assert.deepEqual(causes, [`FieldValueInvalid ${path}`]);
  }
});
