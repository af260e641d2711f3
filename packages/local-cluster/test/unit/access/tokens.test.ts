/** Which user stands behind a bearer token. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTokenAuthenticator } from '../../../src/access/tokens.ts';

const admin = { name: 'admin', groups: ['system:masters'] };
const watcher = { name: 'watcher', groups: [] };
const authenticate = createTokenAuthenticator(
  new Map([
    ['token-of-admin', admin],
    ['token-of-watcher', watcher],
  ]),
);

test('each token is its own user', () => {
  assert.equal(authenticate('token-of-admin'), admin);
  assert.equal(authenticate('token-of-watcher'), watcher);
});

test('a token of nobody is no user', () => {
  for (const token of ['', 'token-of-', 'token-of-admin ', 'Token-of-admin', 'x'.repeat(9999)]) {
    assert.equal(authenticate(token), undefined);
  }
});

test('without a token one is anonymous, and authorisation decides', () => {
  assert.deepEqual(authenticate(undefined), {
    name: 'system:anonymous',
    groups: ['system:unauthenticated'],
  });
});
