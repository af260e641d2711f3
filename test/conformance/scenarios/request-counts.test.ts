/**
 * The count of what one DaemonSet costs can say no: with each kind of request too many, and when nothing can be said.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AuditRecord } from '../control-plane/audit.ts';
import { judgeTry, requestsMax } from './request-counts.ts';

const PODS = 100;

function request(verb: string, resource: string, of: Partial<AuditRecord> = {}): AuditRecord {
  return {
    user: 'functions',
    userAgent: 'rollcall',
    verb,
    resource,
    subresource: '',
    namespace: 'default',
    name: '',
    code: 200,
    requestUri: `/${resource}`,
    receivedAtMs: 2000,
    completedAtMs: 2001,
    ...of,
  };
}

const times = (count: number, one: AuditRecord): readonly AuditRecord[] =>
  Array.from({ length: count }, () => one);
const LIST = request('list', 'pods', { receivedAtMs: 1000, completedAtMs: 1001 });
const CREATE = request('create', 'pods', { code: 201 });
const STATUS = request('update', 'daemonsets', { subresource: 'status' });
const LOOK = request('get', 'pods');
const NEEDED = [LIST, ...times(PODS, CREATE), ...times(5, STATUS)];

const kindOf = (requests: readonly AuditRecord[], left = 0): string =>
  judgeTry({ nodesCount: PODS, requests }, { left }).kind;

describe('judgeTry', () => {
  it('passes a create for each node, one LIST before them, and a few statuses', () => {
    assert.equal(kindOf(NEEDED), 'passed');
  });

  it('fails with a pod too many or too few, or one deleted, in each try', () => {
    assert.equal(kindOf([...NEEDED, CREATE], 1), 'failed');
    assert.equal(kindOf(NEEDED.slice(0, -6).concat(times(5, STATUS)), 1), 'failed');
    assert.equal(kindOf([...NEEDED, request('delete', 'pods')], 1), 'failed');
    assert.equal(kindOf([...NEEDED, ...times(PODS, STATUS)], 1), 'failed');
  });

  it('says nothing of a try with live reads while there is another, and fails the last one', () => {
    assert.equal(kindOf([...NEEDED, LOOK], 1), 'again');
    assert.equal(kindOf([...NEEDED, LOOK], 0), 'failed');
  });

  it('fails with a LIST of nodes, three of pods, or one once there are pods', () => {
    const late = request('list', 'pods', { completedAtMs: 3000 });
    for (const extra of [[request('list', 'nodes')], [LIST, LIST], [late]]) {
      assert.equal(kindOf([...NEEDED, ...extra]), 'failed');
    }
    assert.equal(kindOf(NEEDED.slice(1)), 'failed');
  });

  it('fails with more requests than there may be for so many pods', () => {
    const looks = requestsMax(PODS) - NEEDED.length;
    const reads = (count: number): readonly AuditRecord[] =>
      times(count, request('get', 'daemonsets'));
    assert.equal(kindOf([...NEEDED, ...reads(looks)]), 'passed');
    assert.equal(kindOf([...NEEDED, ...reads(looks + 1)]), 'failed');
  });
});

describe('requestsMax', () => {
  it('is 1.1 for each of a thousand pods, and forty besides for few', () => {
    assert.equal(requestsMax(1000), 1100);
    assert.equal(requestsMax(100), 140);
  });
});
