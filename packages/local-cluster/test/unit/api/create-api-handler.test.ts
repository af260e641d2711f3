/** What comes before any verb: which paths exist, who may ask, who is told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestObserver } from '../../../src/api/request/api-request.ts';
import { createApiBench, NAMESPACE, POD } from '../../support/api-bench.ts';

describe('createApiHandler', () => {
  for (const [line, status, kind] of [
    ['GET /foo', 404, 'text'],
    ['GET /apis/foo/v1/bar', 404, 'text'],
    ['GET /api/v1/foo', 404, 'Status'],
    ['GET /apis/apps/v2/daemonsets', 404, 'Status'],
    ['GET /api/v1/pods/x', 404, 'Status'],
    ['GET /api/v1/namespaces/default/nodes', 404, 'Status'],
    ['GET /api/v1/namespaces/default/pods/x/foo', 404, 'Status'],
    ['GET /api/v1/namespaces/default/pods/x/status/y', 404, 'Status'],
    ['GET /api/v1/namespaces/default/pods/x/eviction', 405, 'Status'],
    ['DELETE /api/v1/namespaces/default/pods/x/status', 405, 'Status'],
    ['GET /api/v1/namespaces/default/finalize', 405, 'Status'],
    ['POST /api/v1/pods', 405, 'Status'],
    ['POST /api/v1/nodes/x', 405, 'Status'],
    ['PUT /api/v1/nodes', 405, 'Status'],
    ['DELETE /api/v1/namespaces', 405, 'Status'],
  ] as const) {
    it(`answers ${line} with ${String(status)}`, () => {
      const [method = 'GET', target = ''] = line.split(' ');
      const { answer } = createApiBench().ask(method as 'GET', target);
      assert.ok(answer.kind !== 'watch');
      assert.equal(answer.status, status);
      assert.equal(answer.kind === 'text' ? 'text' : answer.body['kind'], kind);
    });
  }

  it('asks the authorizer before it looks at what exists', () => {
    const { ask } = createApiBench({
      authorizer: { authorize: ({ verb }) => ({ allowed: verb === 'create', reason: 'no' }) },
    });
    const { status, body } = ask('GET', `${NAMESPACE}/foos/x/bar`);
    assert.equal(status, 403);
    assert.equal(
      body['message'],
      'foos "x" is forbidden: User "admin" cannot get resource "foos/bar" in API group "" in the namespace "default": no',
    );
    assert.deepEqual(body['details'], { name: 'x', kind: 'foos' });
    assert.equal(
      ask('GET', '/api/v1/pods').body['message'],
      'pods is forbidden: User "admin" cannot list resource "pods" in API group "" at the cluster scope: no',
    );
    assert.equal(
      ask('GET', '/metrics').body['message'],
      'forbidden: User "admin" cannot get path "/metrics": no',
    );
  });

  it('tells the observer of each request once', () => {
    const records: Parameters<RequestObserver>[0][] = [];
    const { ask, watch } = createApiBench({ onRequest: (record) => records.push(record) });
    records.length = 0;
    ask('POST', `${NAMESPACE}/pods`, { body: POD });
    ask('GET', `${NAMESPACE}/pods/nope`);
    ask('GET', `${NAMESPACE}/pods`);
    watch(`${NAMESPACE}/pods?watch=1`);
    assert.deepEqual(
      records.map(({ attributes, status, object }) => [
        attributes.verb,
        status,
        object?.metadata.name,
      ]),
      [
        ['create', 201, 'p'],
        ['get', 404, undefined],
        ['list', 200, undefined],
        ['watch', 200, undefined],
      ],
    );
  });
});
