/** Nodes: the taint of a new one, stable defaults. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { acceptedByRules, resourceNamed, withPath } from '../../support/resource-rules.ts';

const NODES = resourceNamed('nodes');
const BASE: JsonObject = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n' },
  spec: { podCIDR: '10.0.0.0/24', providerID: 'a' },
  status: { capacity: { cpu: '1' } },
};
const NOT_READY = { effect: 'NoSchedule', key: 'node.kubernetes.io/not-ready' };

test('a new node is tainted not-ready, once', () => {
  const node = acceptedByRules(NODES, BASE);
  assert.deepEqual((node.spec as JsonObject).taints, [NOT_READY]);
  const again = acceptedByRules(NODES, withPath(BASE, 'spec.taints', [NOT_READY]));
  assert.deepEqual((again.spec as JsonObject).taints, [NOT_READY]);
});

test('what can be allocated is the capacity unless it is said', () => {
  const { status } = acceptedByRules(NODES, BASE);
  assert.deepEqual((status as JsonObject).allocatable, { cpu: '1' });
});

test('a node with its defaults comes back as the very same object', () => {
  const node = acceptedByRules(NODES, BASE);
  assert.equal(NODES.rules.applyDefaults(node), node);
});
