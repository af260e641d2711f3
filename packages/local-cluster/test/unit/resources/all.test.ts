/** The list of resources: names, and how a PUT without a version or without an object is treated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LivingName } from '../../../src/objects/api-object.ts';
import { LIVING_RESOURCES, RESOURCES } from '../../../src/resources/all.ts';

/** A member for each name: the type checker sees to it that none is missing. */
const NAMES: Readonly<Record<LivingName, true>> = {
  namespaces: true,
  nodes: true,
  pods: true,
  podtemplates: true,
  events: true,
  configmaps: true,
  secrets: true,
  serviceaccounts: true,
  'daemonsets.apps': true,
  'controllerrevisions.apps': true,
  'leases.coordination.k8s.io': true,
  'clusterroles.rbac.authorization.k8s.io': true,
  'clusterrolebindings.rbac.authorization.k8s.io': true,
  'roles.rbac.authorization.k8s.io': true,
  'rolebindings.rbac.authorization.k8s.io': true,
  'priorityclasses.scheduling.k8s.io': true,
};

test('there is one resource with rules of its own for each name', () => {
  const names = LIVING_RESOURCES.map((resource) => resource.resourceName);
  assert.deepEqual([...names].sort(), Object.keys(NAMES).sort());
});

test('names follow from plural and group', () => {
  for (const { resourceName, plural, group } of RESOURCES) {
    assert.equal(resourceName, group === '' ? plural : `${plural}.${group}`);
  }
});

test('of those only leases refuse a PUT without a version, and only the listed ones are created by PUT', () => {
  const strict = LIVING_RESOURCES.filter((it) => !it.allowsUnconditionalUpdate).map(
    (it) => it.plural,
  );
  const upserting = LIVING_RESOURCES.filter((it) => it.allowsCreateOnUpdate).map((it) => it.plural);
  assert.deepEqual(strict, ['leases']);
  assert.deepEqual([...upserting].sort(), [
    'clusterrolebindings',
    'clusterroles',
    'events',
    'leases',
    'rolebindings',
    'roles',
  ]);
});
