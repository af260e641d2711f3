/** DaemonSets: stable defaults, generations, two views that keep to their own part, and what is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../src/objects/api-object.ts';
import {
  acceptedByRules,
  causesOf,
  createByRules,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../support/resource-rules.ts';

const DAEMON_SETS = resourceNamed('daemonsets');
const ANNOTATION = 'deprecated.daemonset.template.generation';
const BODY: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'd', namespace: 'test-namespace' },
  spec: {
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    },
  },
};
const CURRENT = acceptedByRules(DAEMON_SETS, BODY);

function after(path: string, value: Json, view?: string): ApiObject {
  const outcome = updateByRules(DAEMON_SETS, {
    next: withPath(CURRENT, path, value),
    current: CURRENT,
    ...(view === undefined ? {} : { view }),
  });
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
  return outcome.object;
}

function generationsOf(object: ApiObject): readonly [number | undefined, string | undefined] {
  return [object.metadata.generation, object.metadata.annotations?.[ANNOTATION]];
}

test('a DaemonSet with all its defaults comes back as the very same object', () => {
  assert.equal(DAEMON_SETS.rules.applyDefaults(CURRENT), CURRENT);
});

test('the generations count changes of spec and template, and nothing else', () => {
  assert.deepEqual(generationsOf(CURRENT), [1, '1']);
  assert.deepEqual(generationsOf(after('spec.minReadySeconds', 5)), [2, '1']);
  assert.deepEqual(generationsOf(after('spec.template.spec.containers.0.image', 'y')), [2, '2']);
  assert.deepEqual(generationsOf(after('metadata.labels', { x: 'y' })), [1, '1']);
  assert.deepEqual(generationsOf(after('status.numberReady', 3)), [1, '1']);
  assert.deepEqual(generationsOf(after('metadata.annotations', {})), [1, '1']);
});

test('status and spec are each written through their own view only', () => {
  assert.equal(after('status.numberReady', 3).status, CURRENT.status);
  assert.equal((after('status.numberReady', 3, 'status').status as JsonObject).numberReady, 3);
  assert.equal(after('spec.minReadySeconds', 5, 'status').spec, CURRENT.spec);
});

test('collisionCount never goes down', () => {
  const current: ApiObject = {
    ...CURRENT,
    status: { ...(CURRENT.status as JsonObject), collisionCount: 3 },
  };
  const causesFor = (count: number | undefined): readonly string[] => {
    const next = withPath(current, 'status.collisionCount', count);
    const outcome = updateByRules(DAEMON_SETS, { next, current, view: 'status' });
    return outcome.kind === 'invalid' ? causesOf(outcome.errors) : [];
  };
  assert.deepEqual(causesFor(4), []);
  assert.deepEqual(causesFor(3), []);
  assert.deepEqual(causesFor(2), ['FieldValueInvalid status.collisionCount']);
  assert.deepEqual(causesFor(undefined), ['FieldValueInvalid status.collisionCount']);
});

const STRATEGY = 'spec.updateStrategy';
const ROLLING = `${STRATEGY}.rollingUpdate`;
const POD = 'spec.template.spec';

test('what a new DaemonSet may not say is refused by its field', () => {
  const rolling = (rollingUpdate: JsonObject): JsonObject => ({ rollingUpdate });
  const refused: readonly (readonly [string, Json | undefined, readonly string[]])[] = [
    ['spec.selector', undefined, ['FieldValueInvalid spec.template.metadata.labels']],
    ['spec.selector', {}, ['FieldValueInvalid spec.selector']],
    [
      'spec.selector',
      { matchLabels: { a: 'c' } },
      ['FieldValueInvalid spec.template.metadata.labels'],
    ],
    [
      'spec.selector',
      { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['b'] }] },
      ['FieldValueInvalid spec.template.metadata.labels'],
    ],
    [
      'spec.selector',
      { matchExpressions: [{ key: 'absent', operator: 'Lacks' }] },
      ['FieldValueInvalid spec.template.metadata.labels'],
    ],
    [`${POD}.containers`, [], [`FieldValueRequired ${POD}.containers`]],
    [`${POD}.restartPolicy`, 'Never', [`FieldValueNotSupported ${POD}.restartPolicy`]],
    [`${POD}.activeDeadlineSeconds`, 5, [`FieldValueForbidden ${POD}.activeDeadlineSeconds`]],
    ['spec.minReadySeconds', -1, ['FieldValueInvalid spec.minReadySeconds']],
    [STRATEGY, { type: 'Other' }, [`FieldValueNotSupported ${STRATEGY}`]],
    [STRATEGY, rolling({ maxUnavailable: 0 }), [`FieldValueRequired ${ROLLING}.maxUnavailable`]],
    [STRATEGY, rolling({ maxSurge: '10%' }), [`FieldValueInvalid ${ROLLING}.maxSurge`]],
    [
      STRATEGY,
      rolling({ maxUnavailable: '101%' }),
      [`FieldValueInvalid ${ROLLING}.maxUnavailable`],
    ],
    [
      STRATEGY,
      rolling({ maxUnavailable: 'x' }),
      [
        `FieldValueInvalid ${ROLLING}.maxUnavailable`,
        `FieldValueRequired ${ROLLING}.maxUnavailable`,
      ],
    ],
  ];
  for (const [path, value, causes] of refused) {
    const outcome = createByRules(DAEMON_SETS, withPath(BODY, path, value));
    assert.equal(outcome.kind, 'invalid', path);
    assert.deepEqual(causesOf(outcome.errors), causes, path);
  }
  for (const strategy of [{ type: 'OnDelete' }, rolling({ maxUnavailable: 0, maxSurge: '100%' })]) {
    acceptedByRules(DAEMON_SETS, withPath(BODY, STRATEGY, strategy));
  }
});

test('the selector never changes', () => {
  const next = withPath(
    withPath(CURRENT, 'spec.selector', { matchLabels: { x: 'y' } }),
    'spec.template.metadata.labels',
    { x: 'y' },
  );
  const outcome = updateByRules(DAEMON_SETS, { next, current: CURRENT });
  assert.equal(outcome.kind, 'invalid');
  assert.deepEqual(causesOf(outcome.errors), ['FieldValueInvalid spec.selector']);
});
