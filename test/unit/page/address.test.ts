/** Addresses of the page: each view has one that can be sent to a colleague, and reads back as it was. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatAddress, parseAddress, pathOf } from '../../../src/page/model/address.ts';
import type { Route } from '../../../src/page/model/address.ts';

const ROUTES: readonly Route[] = [
  { view: 'fleet' },
  { view: 'rollouts' },
  { view: 'log' },
  { view: 'plan' },
  { view: 'coverage' },
  { view: 'rollout', cluster: 'prod-1', namespace: 'ops', name: 'agent' },
  { view: 'daemonset', cluster: 'prod-1', namespace: 'ops', name: 'agent' },
  { view: 'fleet-rollout', namespace: 'ops', name: 'agent' },
  { view: 'node', cluster: 'prod-1', node: 'ip-10-0-0-1.eu/strange?' },
];

describe('an address of the page', () => {
  for (const route of ROUTES) {
    it(`reads back as ${route.view}`, () => {
      assert.deepEqual(parseAddress(pathOf(route), ''), { route, query: {} });
    });
  }

  it('holds the filters of its view, without those that are empty', () => {
    const address = {
      route: { view: 'fleet' },
      query: { q: 'reason:held & more', by: '' },
    } as const;
    const [path = '', search = ''] = formatAddress(address).split(/(?=\?)/);
    assert.equal(path, '/');
    assert.deepEqual(parseAddress(path, search).query, { q: 'reason:held & more' });
  });

  const ELSEWHERE = ['/rollouts/prod-1/ops', '/nodes/prod-1', '/fleets//x', '/else', '/%zz'];
  for (const path of [...ELSEWHERE, '/constructor', '/__proto__']) {
    it(`names no view as ${path}`, () => {
      assert.equal(parseAddress(path, '').route.view, 'none');
    });
  }
});
