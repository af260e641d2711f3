/** How a right is shown to a person. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatPermission } from '../../../../src/core/daemon-set/permission.ts';

test('a right is told by its verb, group, resource, object and namespace, without what it lacks', () => {
  const right = { verb: 'update', group: 'apps', resource: 'daemonsets/status' };
  assert.equal(formatPermission(right), 'update apps daemonsets/status');
  assert.equal(formatPermission({ verb: 'list', group: '', resource: 'pods' }), 'list pods');
  const lease = {
    verb: 'get',
    group: 'coordination.k8s.io',
    resource: 'leases',
    name: 'rollcall-watcher',
    namespace: 'rollcall-system',
  };
  assert.equal(
    formatPermission(lease),
    'get coordination.k8s.io leases rollcall-watcher in rollcall-system',
  );
});
