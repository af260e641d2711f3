/** Who a record names as the giver of an order. */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { it } from 'node:test';
import { callerOf } from '../../../../src/cli/command-line/caller.ts';

it('names the user of the environment, and without one the user of the system', () => {
  assert.equal(callerOf({ environment: { USER: 'ann', LOGNAME: 'bob' } }), 'ann');
  assert.equal(callerOf({ environment: { USER: '', LOGNAME: 'bob' } }), 'bob');
  assert.equal(callerOf({ environment: {} }), userInfo().username);
});
