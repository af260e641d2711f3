// Fresh seeds and samples come from the commit, from what is told, or, without either, from 0.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { commitSeed, presentCommit } from '../../support/commit.ts';

test('the number is the first seven digits of the commit, and its source says how to play it elsewhere', () => {
  const { seed, source } = commitSeed('', '0000a1bcdef0');
  assert.equal(seed, 0xa1b);
  assert.match(source, /ROLLCALL_SEED=2587\b.*\b0000a1b\b/);
});

test('what is told counts, whatever the commit; what is no whole number is refused', () => {
  assert.equal(commitSeed('17', 'abcdef012345').seed, 17);
  for (const told of ['x', '-1', '1.5']) {
    assert.throws(() => commitSeed(told, 'abcdef012345'), /not a whole number/);
  }
});

test('a checkout without git plays from 0, and says so', () => {
  assert.deepEqual(commitSeed('', 'unknown'), { seed: 0, source: 'no commit is known: 0' });
});

test('the commit is that of the work tree, or is said to be unknown', () => {
  assert.match(presentCommit(), /^(?:[0-9a-f]{12}|unknown)$/);
});
