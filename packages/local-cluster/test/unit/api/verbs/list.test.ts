/** GET of collections: pages, versions, selectors, forms. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createApiBench,
  MERGE,
  metadataOf,
  NAMESPACE,
  namesOf,
  POD,
} from '../../../support/api-bench.ts';
import type { ApiBench } from '../../../support/api-bench.ts';

const SECRETS = `${NAMESPACE}/secrets`;

function benchWithSecrets(): ApiBench {
  const bench = createApiBench();
  for (const name of ['d', 'b', 'a', 'e', 'c']) {
    const labels = name < 'c' ? { early: 'yes' } : {};
    bench.ask('POST', SECRETS, { body: { metadata: { name, labels } } });
  }
  return bench;
}

function pageQuery(answer: ReturnType<ApiBench['ask']>): string {
  return `continue=${encodeURIComponent(String(metadataOf(answer)['continue']))}`;
}

describe('list', () => {
  it('shows one moment over all its pages', () => {
    const { ask } = benchWithSecrets();
    const first = ask('GET', `${SECRETS}?limit=2`);
    assert.deepEqual(namesOf(first), ['a', 'b']);
    assert.equal(metadataOf(first)['remainingItemCount'], 3);
    ask('DELETE', `${SECRETS}/c`);
    ask('POST', SECRETS, { body: { metadata: { name: 'bb' } } });
    const second = ask('GET', `${SECRETS}?limit=2&${pageQuery(first)}`);
    assert.deepEqual(namesOf(second), ['c', 'd']);
    assert.equal(metadataOf(second)['resourceVersion'], metadataOf(first)['resourceVersion']);
    const third = ask('GET', `${SECRETS}?limit=2&${pageQuery(second)}`);
    assert.deepEqual(namesOf(third), ['e']);
    assert.equal(metadataOf(third)['continue'], undefined);
  });

  it('says that a token has expired once the history does not reach back to it', () => {
    const { ask, store } = benchWithSecrets();
    const first = ask('GET', `${SECRETS}?limit=2`);
    ask('DELETE', `${SECRETS}/c`);
    store.compact();
    const late = ask('GET', `${SECRETS}?limit=2&${pageQuery(first)}`);
    assert.deepEqual([late.status, late.body['reason']], [410, 'Expired']);
  });

  it('shows an exact earlier version as long as the history reaches back to it', () => {
    const { ask, store } = benchWithSecrets();
    const version = String(store.version());
    const before = ask('GET', SECRETS).body['items'];
    ask('DELETE', `${SECRETS}/c`);
    ask('POST', SECRETS, { body: { metadata: { name: 'bb' } } });
    ask('PATCH', `${SECRETS}/a`, {
      body: { metadata: { labels: { x: 'y' } } },
      contentType: MERGE,
    });
    const exact = `${SECRETS}?resourceVersion=${version}&resourceVersionMatch=Exact`;
    assert.deepEqual(ask('GET', exact).body['items'], before);
    assert.equal(metadataOf(ask('GET', exact))['resourceVersion'], version);
    const notOlder = `${SECRETS}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`;
    assert.deepEqual(namesOf(ask('GET', notOlder)), ['a', 'b', 'bb', 'd', 'e']);
    store.compact();
    assert.equal(ask('GET', exact).status, 410);
  });

  it('counts no remaining items where selectors hide them', () => {
    const { ask } = benchWithSecrets();
    const page = ask('GET', `${SECRETS}?limit=1&labelSelector=early`);
    assert.deepEqual(namesOf(page), ['a']);
    assert.equal(metadataOf(page)['remainingItemCount'], undefined);
    assert.deepEqual(namesOf(ask('GET', `${SECRETS}?labelSelector=early&${pageQuery(page)}`)), [
      'b',
    ]);
  });

  it('offers to go on after a full page, whatever the rest holds', () => {
    const { ask } = benchWithSecrets();
    const page = ask('GET', `${SECRETS}?limit=2&labelSelector=early`);
    assert.deepEqual(namesOf(page), ['a', 'b']);
    const next = ask('GET', `${SECRETS}?labelSelector=early&${pageQuery(page)}`);
    assert.deepEqual(namesOf(next), []);
  });

  it('reads pods of a node from the index, with further selectors', () => {
    const { ask } = createApiBench();
    ask('POST', `${NAMESPACE}/pods`, { body: POD });
    ask('POST', `${NAMESPACE}/pods`, {
      body: {
        ...POD,
        metadata: { name: 'other' },
        spec: { ...(POD['spec'] as object), nodeName: 'n2' },
      },
    });
    const named = (query: string): readonly string[] =>
      namesOf(ask('GET', `/api/v1/pods?fieldSelector=${encodeURIComponent(query)}`));
    assert.deepEqual(named('spec.nodeName=n1'), ['p']);
    assert.deepEqual(named('spec.nodeName=n1,status.phase!=Pending'), []);
    assert.deepEqual(named('spec.nodeName!=n1'), ['other']);
    assert.deepEqual(named('metadata.name=other'), ['other']);
  });

  it('leaves kind and apiVersion out of items, except in process', () => {
    const { ask } = benchWithSecrets();
    const items = (answer: ReturnType<ApiBench['ask']>): readonly Record<string, unknown>[] =>
      answer.body['items'] as readonly Record<string, unknown>[];
    assert.equal(items(ask('GET', SECRETS))[0]?.['kind'], undefined);
    const inProcess = benchWithSecrets().handler.handle({
      method: 'GET',
      target: SECRETS,
      user: { name: 'u', groups: [] },
    });
    assert.ok(inProcess.kind === 'object');
    const [first] = inProcess.body['items'] as readonly Record<string, unknown>[];
    assert.equal(first?.['kind'], 'Secret');
  });

  it('renders tables and metadata', () => {
    const { ask } = benchWithSecrets();
    const as = (form: string, path = SECRETS): ReturnType<ApiBench['ask']> =>
      ask('GET', path, { accept: `application/json;as=${form};v=v1;g=meta.k8s.io` });
    const { body } = as('Table');
    const [row] = body['rows'] as readonly {
      cells: readonly unknown[];
      object: { kind: string };
    }[];
    assert.equal(row?.cells[0], 'a');
    assert.equal(row.object.kind, 'PartialObjectMetadata');
    const partial = as('PartialObjectMetadataList').body['items'] as readonly { kind: string }[];
    assert.equal(partial[0]?.kind, 'PartialObjectMetadata');
    assert.equal(as('PartialObjectMetadata', `${SECRETS}/a`).body['kind'], 'PartialObjectMetadata');
    assert.equal(as('PartialObjectMetadata').status, 406);
    assert.equal(as('Other').status, 406);
    assert.equal(ask('GET', SECRETS, { accept: 'text/html' }).status, 406);
  });

  for (const [query, status] of [
    ['limit=x', 400],
    ['continue=x', 400],
    [`continue=${Buffer.from('{"v":"other","rv":1}').toString('base64url')}`, 400],
    ['labelSelector=a%20b', 400],
    ['fieldSelector=spec.nope%3D1', 400],
    ['fieldSelector=metadata.name', 400],
    ['fieldSelector=metadata.name%3Da%3Db', 400],
    ['fieldSelector=,metadata.name%3D%3Da', 200],
    ['resourceVersion=x', 400],
    ['resourceVersion=99999', 504],
    ['limit=', 400],
    ['resourceVersion=0&limit=1', 200],
  ] as const) {
    it(`answers ${String(status)} to ${query}`, () => {
      assert.equal(benchWithSecrets().ask('GET', `${SECRETS}?${query}`).status, status);
    });
  }
});
