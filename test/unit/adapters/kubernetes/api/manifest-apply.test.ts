/** The request of a server-side apply: its fence, its query, and what is never sent. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manifestRequest } from '../../../../../src/adapters/kubernetes/api/manifest-apply.ts';
import type { FleetManifest } from '../../../../../src/core/fleet/fleet-daemon-set.ts';
import type { ApplyOptions } from '../../../../../src/ports/cluster/manifest-access.ts';

const PLAIN: ApplyOptions = { isDryRun: false, isForced: false, deadlineMs: Infinity };

function manifest(metadata: object = {}, fields: object = {}): FleetManifest {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { namespace: 'agents', name: 'a', ...metadata },
    spec: { template: { spec: { containers: [] } } },
    ...fields,
  };
}

function sent(of: FleetManifest, options: Partial<ApplyOptions> = {}) {
  const made = manifestRequest(of, { ...PLAIN, ...options });
  assert.equal(made.kind, 'request');
  assert.ok(made.kind === 'request');
  return made.request;
}

describe('manifestRequest', () => {
  it('is an apply of JSON under the field manager, strict about fields', () => {
    const request = sent(manifest());
    assert.equal(request.method, 'PATCH');
    assert.equal(request.contentType, 'application/apply-patch+yaml');
    assert.equal(
      request.path,
      '/apis/apps/v1/namespaces/agents/daemonsets/a?fieldManager=rollcall&fieldValidation=Strict',
    );
    assert.deepEqual(JSON.parse(request.body ?? ''), manifest());
  });

  it('is forced, and kept by nobody, only when it is asked for', () => {
    assert.match(sent(manifest(), { isForced: true }).path, /&force=true$/);
    assert.match(sent(manifest(), { isDryRun: true }).path, /&dryRun=All$/);
  });

  it('carries the fence that was given, and none that the manifest had', () => {
    const exported = manifest({ uid: 'theirs', resourceVersion: '9', managedFields: [] });
    const fence = { uid: 'u-1', resourceVersion: '12' };
    const metadataOf = (options: Partial<ApplyOptions>): unknown =>
      (JSON.parse(sent(exported, options).body ?? '') as { metadata: unknown }).metadata;
    assert.deepEqual(metadataOf({}), { namespace: 'agents', name: 'a' });
    assert.deepEqual(metadataOf(fence), { namespace: 'agents', name: 'a', ...fence });
  });

  for (const [title, of, options] of [
    ['another kind', manifest({}, { kind: 'Deployment' }), {}],
    ['another version of the API', manifest({}, { apiVersion: 'apps/v1beta2' }), {}],
    ['a name that leads elsewhere', manifest({ name: '../pods' }), {}],
    ['a namespace that is none', manifest({ namespace: '' }), {}],
    ['an empty UID', manifest(), { uid: '' }],
    ['a version that is none', manifest(), { resourceVersion: '' }],
  ] as const) {
    it(`does not send ${title}`, () => {
      assert.equal(manifestRequest(of, { ...PLAIN, ...options }).kind, 'faulty');
    });
  }
});
