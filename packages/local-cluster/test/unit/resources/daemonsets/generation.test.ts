/** DaemonSets: stable defaults, generations, two views that keep to their own part (spec 2.13). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import {
  acceptedByRules,
  causesOf,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../../support/resource-rules.ts';

const DAEMON_SETS = resourceNamed('daemonsets');
const ANNOTATION = 'deprecated.daemonset.template.generation';
const CURRENT = acceptedByRules(DAEMON_SETS, {
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
});

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

test('spec 2.13: the generations count changes of spec and template, and nothing else', () => {
  assert.deepEqual(generationsOf(CURRENT), [1, '1']);
  assert.deepEqual(generationsOf(after('spec.minReadySeconds', 5)), [2, '1']);
  assert.deepEqual(generationsOf(after('spec.template.spec.containers.0.image', 'y')), [2, '2']);
  assert.deepEqual(generationsOf(after('metadata.labels', { x: 'y' })), [1, '1']);
  assert.deepEqual(generationsOf(after('status.numberReady', 3)), [1, '1']);
  assert.deepEqual(generationsOf(after('metadata.annotations', {})), [1, '1']);
});

test('spec 2.13: status and spec are each written through their own view only', () => {
  assert.equal(after('status.numberReady', 3).status, CURRENT.status);
  assert.equal((after('status.numberReady', 3, 'status').status as JsonObject).numberReady, 3);
  assert.equal(after('spec.minReadySeconds', 5, 'status').spec, CURRENT.spec);
});

test('spec 2.13: collisionCount never goes down', () => {
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
