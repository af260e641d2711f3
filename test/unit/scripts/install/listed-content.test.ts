/** The rights that content-rights.ts prints: get, by name, for what policies select, and for nobody else. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contentOf, contentRights } from '../../../../scripts/install/listed-content.ts';
import type { Manifest } from '../../../../src/cli/fleet/fleet-manifests.ts';

function listOf(policies: Readonly<Record<string, string | undefined>>): string {
  const items = Object.entries(policies).map(([id, policy]) => {
    const [namespace, name] = id.split('/');
    const annotations = policy === undefined ? {} : { 'rollcall.dev/rollout': policy };
    const containers = [
      {
        env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'token', key: 'a' } } }],
        envFrom: [{ configMapRef: { name: 'settings' } }],
      },
    ];
    const spec = { template: { spec: { containers } } };
    return { kind: 'DaemonSet', metadata: { namespace, name, annotations }, spec };
  });
  return JSON.stringify({ items });
}

function rolesOf(policies: Parameters<typeof listOf>[0]): readonly Manifest[] {
  return contentRights(contentOf(listOf(policies))).filter(({ kind }) => kind === 'Role');
}

describe('content-rights.ts', () => {
  it('prints nothing where no policy has content in the revision', () => {
    const quiet = { 'a/one': undefined, 'a/two': 'soak: 1m', 'a/three': 'config: maybe' };
    assert.deepEqual(contentRights(contentOf(listOf(quiet))), []);
  });

  it('prints get on single names, for the namespaces that ask, and for the key', () => {
    const roles = rolesOf({ 'a/one': 'config: true', 'b/two': 'config: {configMaps: [x]}' });
    const key = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
    assert.deepEqual(
      roles.map(({ metadata, rules }) => [metadata, rules]),
      [
        [
          { namespace: 'rollcall-system', name: 'rollcall-content-key' },
          [{ ...key, resourceNames: ['rollcall-config-key'] }],
        ],
        [
          { namespace: 'a', name: 'rollcall-content' },
          [
            { ...key, resources: ['configmaps'], resourceNames: ['settings'] },
            { ...key, resourceNames: ['token'] },
          ],
        ],
        [
          { namespace: 'b', name: 'rollcall-content' },
          [{ ...key, resources: ['configmaps'], resourceNames: ['x'] }],
        ],
      ],
    );
  });

  it('never prints a rule without names, which would be one for all objects', () => {
    const rules = rolesOf({ 'a/one': 'config: {secrets: [s]}', 'a/two': 'config: true' }).flatMap(
      (role) => role['rules'] as readonly { readonly resourceNames?: readonly string[] }[],
    );
    for (const rule of rules) assert.ok((rule.resourceNames ?? []).length > 0);
  });

  it('refuses what is no list of DaemonSets', () => {
    assert.throws(() => contentOf('{"items":[{"kind":"Pod"}]}'));
  });
});
