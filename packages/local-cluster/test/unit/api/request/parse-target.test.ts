/** Request lines are read as the real server reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isTrue, parseTarget } from '../../../../src/api/request/parse-target.ts';
import type { ApiRequest } from '../../../../src/api/request/api-request.ts';

const user = { name: 'u', groups: [] };

function attributesOf(line: string): Record<string, unknown> {
  const [method = 'GET', target = '/'] = line.split(' ');
  const { attributes, version, hasMore } = parseTarget({
    method: method as ApiRequest['method'],
    target,
    user,
  });
  const { user: _user, path: _path, ...rest } = attributes;
  return { ...rest, version, ...(hasMore ? { hasMore } : {}) };
}

describe('parseTarget', () => {
  const CASES: readonly (readonly [line: string, expected: Record<string, unknown>])[] = [
    [
      'GET /api/v1/namespaces/ns/pods/p',
      { verb: 'get', group: '', resource: 'pods', namespace: 'ns', name: 'p', version: 'v1' },
    ],
    [
      'PATCH /api/v1/namespaces/ns/pods/p/status',
      {
        verb: 'patch',
        group: '',
        resource: 'pods',
        subresource: 'status',
        namespace: 'ns',
        name: 'p',
        version: 'v1',
      },
    ],
    ['GET /api/v1/pods/', { verb: 'list', group: '', resource: 'pods', version: 'v1' }],
    ['GET /api/v1/pods?watch=1', { verb: 'watch', group: '', resource: 'pods', version: 'v1' }],
    ['GET /api/v1/pods?watch=false', { verb: 'list', group: '', resource: 'pods', version: 'v1' }],
    [
      'DELETE /apis/apps/v1/namespaces/ns/daemonsets',
      {
        verb: 'deletecollection',
        group: 'apps',
        resource: 'daemonsets',
        namespace: 'ns',
        version: 'v1',
      },
    ],
    [
      'PUT /api/v1/namespaces/ns/finalize',
      {
        verb: 'update',
        group: '',
        resource: 'namespaces',
        subresource: 'finalize',
        namespace: 'ns',
        name: 'ns',
        version: 'v1',
      },
    ],
    [
      'GET /api/v1/nodes?fieldSelector=metadata.name%3Dn1',
      { verb: 'list', group: '', resource: 'nodes', name: 'n1', version: 'v1' },
    ],
    ['GET /apis/apps/v1', { verb: 'get', group: '', resource: '', version: '' }],
    ['POST /healthz', { verb: 'post', group: '', resource: '', version: '' }],
    [
      'GET /api/v1/nodes/a%2Db/status/x',
      {
        verb: 'get',
        group: '',
        resource: 'nodes',
        subresource: 'status',
        name: 'a-b',
        version: 'v1',
        hasMore: true,
      },
    ],
  ];
  for (const [line, expected] of CASES) {
    it(`reads ${line}`, () => {
      assert.deepEqual(attributesOf(line), expected);
    });
  }

  it('takes a malformed escape literally', () => {
    assert.equal(attributesOf('GET /api/v1/nodes/%zz')['name'], '%zz');
  });

  it('takes a query flag as true unless it says no', () => {
    assert.deepEqual([null, '0', 'False', '', '1', 'x'].map(isTrue), [
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });
});
