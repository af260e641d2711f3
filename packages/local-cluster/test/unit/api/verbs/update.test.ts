/** PUT, with the answers of the real server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiBench, metadataOf, NAMESPACE } from '../../../support/api-bench.ts';
import type { ApiBench, BenchAnswer } from '../../../support/api-bench.ts';

const PATH = `${NAMESPACE}/configmaps/a`;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

function benchWithConfigMap(): ApiBench & { readonly created: BenchAnswer } {
  const bench = createApiBench();
  const created = bench.ask('POST', `${NAMESPACE}/configmaps`, {
    body: { metadata: { name: 'a' } },
  });
  return { ...bench, created };
}

describe('update', () => {
  it('replaces the object, and keeps what is the server’s', () => {
    const { ask, created } = benchWithConfigMap();
    const body = {
      metadata: { name: 'a', creationTimestamp: '2020-01-01T00:00:00Z' },
      data: { k: 'v' },
    };
    const updated = ask('PUT', PATH, { body });
    assert.equal(updated.status, 200);
    assert.deepEqual(updated.body['data'], { k: 'v' });
    const { resourceVersion, managedFields: _after, ...rest } = metadataOf(updated);
    const { resourceVersion: before, managedFields: _before, ...kept } = metadataOf(created);
    assert.deepEqual(rest, kept);
    assert.notEqual(resourceVersion, before);
  });

  it('writes nothing when nothing changes', () => {
    const { ask, store } = benchWithConfigMap();
    const body = { metadata: { name: 'a' }, data: { k: 'v' } };
    ask('PUT', PATH, { body });
    const version = store.version();
    ask('PUT', PATH, { body });
    assert.equal(store.version(), version);
  });

  it('refuses an old resourceVersion and another UID with a conflict about the resource', () => {
    const { ask } = benchWithConfigMap();
    for (const extra of [{ resourceVersion: '1' }, { uid: 'other' }]) {
      const { status, body } = ask('PUT', PATH, { body: { metadata: { name: 'a', ...extra } } });
      assert.deepEqual([status, body['reason']], [409, 'Conflict']);
      assert.deepEqual(body['details'], { name: 'a', kind: 'configmaps' });
    }
  });

  it('refuses another name, no name, another namespace', () => {
    const { ask } = benchWithConfigMap();
    for (const metadata of [{ name: 'b' }, {}, { name: 'a', namespace: 'b' }]) {
      assert.equal(ask('PUT', PATH, { body: { metadata } }).status, 400);
    }
  });

  it('refuses to delete by deletionTimestamp', () => {
    const { ask } = benchWithConfigMap();
    const metadata = { name: 'a', deletionTimestamp: '2020-01-01T00:00:00Z' };
    assert.equal(ask('PUT', PATH, { body: { metadata } }).status, 422);
  });

  it('creates leases, then wants their resourceVersion', () => {
    const { ask } = createApiBench();
    const body = { metadata: { name: 'l' } };
    assert.equal(ask('PUT', `${LEASES}/l`, { body }).status, 201);
    assert.equal(ask('PUT', `${LEASES}/l`, { body }).status, 422);
    assert.equal(
      ask('PUT', `${LEASES}/m?dryRun=All`, { body: { metadata: { name: 'm' } } }).status,
      201,
    );
    assert.equal(ask('GET', `${LEASES}/m`).status, 404);
  });

  it('creates only for those who may create', () => {
    const { ask } = createApiBench({
      authorizer: {
        authorize: ({ verb, resource }) => ({
          allowed: verb !== 'create' || resource !== 'leases',
          reason: '',
        }),
      },
    });
    const { status, body } = ask('PUT', `${LEASES}/l`, { body: { metadata: { name: 'l' } } });
    assert.deepEqual([status, body['reason']], [403, 'Forbidden']);
  });

  it('does not find what it may not create', () => {
    const { ask } = createApiBench();
    assert.equal(ask('PUT', PATH, { body: { metadata: { name: 'a' } } }).status, 404);
  });
});
