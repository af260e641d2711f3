/** What is done to pods through subresources: binding and eviction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import type { ActionOutcome } from '../../../../src/resources/shared/resource.ts';
import {
  acceptedByRules,
  resourceNamed,
  TEST_CONTEXT,
  withPath,
} from '../../../support/resource-rules.ts';

const PODS = resourceNamed('pods');
const POD = acceptedByRules(PODS, {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'test-namespace' },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }] },
});

function act(
  name: string,
  body: JsonObject,
  of: { readonly pod?: ApiObject; readonly query?: string } = {},
): ActionOutcome {
  const action = PODS.subresources.find((it) => it.name === name);
  assert.ok(action?.kind === 'action');
  const query = new URLSearchParams(of.query ?? '');
  return action.run({ object: of.pod ?? POD, body, context: TEST_CONTEXT, query });
}

function binding(target: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: 'p', ...metadata }, target };
}

test('a binding sets the node, the condition, and the labels of node and binding', () => {
  const outcome = act('binding', binding({ kind: 'Node', name: 'zoned' }, { labels: { a: 'b' } }));
  assert.ok(outcome.kind === 'replace');
  const { spec, status, metadata } = outcome.object;
  assert.equal((spec as JsonObject).nodeName, 'zoned');
  assert.deepEqual(metadata.labels, { a: 'b', 'topology.kubernetes.io/zone': 'a' });
  assert.equal(metadata.generation, 1);
  assert.deepEqual((status as JsonObject).conditions, [
    {
      type: 'PodScheduled',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]);
});

test('a binding is refused as kube-apiserver 1.36.3 refuses it', () => {
  const bound = withPath(POD, 'spec.nodeName', 'n') as ApiObject;
  const terminating = withPath(POD, 'metadata.deletionTimestamp', 'x') as ApiObject;
  const gated = withPath(POD, 'spec.schedulingGates', [{ name: 'a' }]) as ApiObject;
  const toNode = binding({ name: 'n' });
  const refusals: readonly (readonly [number, string, JsonObject, ApiObject])[] = [
    [409, 'pods/binding "p": pod p is already assigned to node "n"', toNode, bound],
    [409, 'pod p is being deleted, cannot be assigned to a host', toNode, terminating],
    [409, 'pod p has non-empty .spec.schedulingGates', toNode, gated],
    [409, 'Precondition failed: UID', binding({ name: 'n' }, { uid: 'other' }), POD],
    [400, 'does not match name in Binding', { metadata: {}, target: { name: 'n' } }, POD],
    [500, 'target.name: Required value', binding({}), POD],
  ];
  for (const [code, words, body, pod] of refusals) {
    const outcome = act('binding', body, { pod });
    assert.ok(outcome.kind === 'refused', words);
    assert.equal(outcome.refusal.code, code, words);
    assert.ok(outcome.refusal.message.includes(words), outcome.refusal.message);
  }
});

test('an eviction marks the pod and deletes it with the options given', () => {
  const outcome = act('eviction', {
    metadata: { name: 'p' },
    deleteOptions: { kind: 'DeleteOptions', gracePeriodSeconds: 7 },
  });
  assert.ok(outcome.kind === 'delete');
  assert.deepEqual(outcome.options, { gracePeriodSeconds: 7 });
  const { conditions } = outcome.object?.status as { readonly conditions: readonly JsonObject[] };
  assert.equal(conditions[0]?.type, 'DisruptionTarget');
  assert.equal(conditions[0]?.reason, 'EvictionByEvictionAPI');
});

test('a dry run of an eviction leaves the pod unmarked', () => {
  const body = { metadata: { name: 'p' } };
  for (const outcome of [
    act('eviction', body, { query: 'dryRun=All' }),
    act('eviction', { ...body, deleteOptions: { dryRun: ['All'] } }),
  ]) {
    assert.deepEqual(outcome, { kind: 'delete', options: { dryRun: ['All'] } });
  }
});

test('an eviction of another name is refused', () => {
  const outcome = act('eviction', { metadata: { name: 'q' } });
  assert.ok(outcome.kind === 'refused' && outcome.refusal.code === 400);
});
