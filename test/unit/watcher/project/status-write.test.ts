/** Which writes of an object went to its status: those need no heartbeat (issue 17). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWrittenToStatus } from '../../../../src/watcher/project/project-object.ts';

const METADATA = { name: 'p', uid: 'u', resourceVersion: '5' };

const isStatus = (managedFields?: unknown): boolean => {
  const raw = {
    metadata: { ...METADATA, ...(managedFields === undefined ? {} : { managedFields }) },
  };
  return isWrittenToStatus(raw);
};

const write = (second: string, subresource?: string): object => ({
  manager: 'any',
  time: `2026-01-01T00:00:${second}Z`,
  ...(subresource === undefined ? {} : { subresource }),
});

test('one that only the status had since is a write of the status, in whatever order', () => {
  assert.equal(isStatus([write('01'), write('02', 'status')]), true);
  assert.equal(isStatus([write('02', 'status'), write('01')]), true);
  assert.equal(isStatus([write('01'), write('02', 'status'), write('02', 'status')]), true);
});

test('one of anything else, later or in the same second, is none', () => {
  assert.equal(isStatus([write('02', 'status'), write('03')]), false);
  assert.equal(isStatus([write('02', 'status'), write('02')]), false);
  assert.equal(isStatus([write('02'), write('02', 'status')]), false);
  assert.equal(isStatus([write('02', 'scale')]), false);
});

test('what nobody tells is none', () => {
  for (const odd of [undefined, null, 'x', [], [null], [{ subresource: 'status' }]]) {
    assert.equal(isStatus(odd), false, JSON.stringify(odd));
  }
});
