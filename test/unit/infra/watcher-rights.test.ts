/** What a watcher may ask of its cluster, by name: no other namespace, no other Lease (docs/security.md, rights). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';

const FILE = path.resolve(import.meta.dirname, '../../../infra/watcher/rbac.yaml');
const LIST_AND_WATCH = ['list', 'watch'];

test('a watcher lists and watches four types, gets kube-system, and keeps its own Lease: nothing else', () => {
  const rulesOf = (kind: string): readonly unknown[] =>
    parseAllDocuments(readFileSync(FILE, 'utf8'))
      .map((document) => document.toJS() as { readonly kind: string; readonly rules?: unknown[] })
      .filter((object) => object.kind === kind)
      .flatMap(({ rules = [] }) => rules);
  assert.deepEqual(rulesOf('ClusterRole'), [
    { apiGroups: [''], resources: ['nodes', 'pods'], verbs: LIST_AND_WATCH },
    {
      apiGroups: ['apps'],
      resources: ['daemonsets', 'controllerrevisions'],
      verbs: LIST_AND_WATCH,
    },
    { apiGroups: [''], resources: ['namespaces'], resourceNames: ['kube-system'], verbs: ['get'] },
  ]);
  const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
  assert.deepEqual(rulesOf('Role'), [
    { ...leases, resourceNames: ['rollcall-watcher'], verbs: ['get', 'update'] },
    // The authorizer does not know the name of what is created.
    { ...leases, verbs: ['create'] },
  ]);
});
