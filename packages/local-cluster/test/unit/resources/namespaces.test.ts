/** Namespaces: how they begin, and how they end through the finalize view. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  acceptedByRules,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../support/resource-rules.ts';

const NAMESPACES = resourceNamed('namespaces');
const CURRENT = acceptedByRules(NAMESPACES, {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x' },
});

test('a new namespace is active, named in its label and held by the kubernetes finalizer', () => {
  assert.deepEqual(CURRENT.metadata.labels, { 'kubernetes.io/metadata.name': 'x' });
  assert.deepEqual(CURRENT.spec, { finalizers: ['kubernetes'] });
  assert.deepEqual(CURRENT.status, { phase: 'Active' });
});

test('only the finalize view takes the finalizer away', () => {
  const next = withPath(CURRENT, 'spec.finalizers', []);
  const finalizersAfter = (view?: string): JsonObject['finalizers'] => {
    const outcome = updateByRules(NAMESPACES, {
      next,
      current: CURRENT,
      ...(view === undefined ? {} : { view }),
    });
    assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome));
    return (outcome.object.spec as JsonObject | undefined)?.finalizers;
  };
  assert.deepEqual(finalizersAfter(), ['kubernetes']);
  assert.deepEqual(finalizersAfter('status'), ['kubernetes']);
  assert.ok(((finalizersAfter('finalize') as readonly string[] | undefined) ?? []).length === 0);
});
