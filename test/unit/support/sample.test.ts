// A sample of a sweep: which trials are played, and that the commit moves it.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { thin } from '../../support/systematic/sweep.ts';

const TRIALS = Array.from({ length: 100 }, (_, index) => index);

test('samples from every offset together are the whole sweep, each trial once', () => {
  const sampled = [0, 1, 2, 3, 4, 5, 6].flatMap((offset) => thin(TRIALS, 7, offset));
  assert.deepEqual(
    sampled.toSorted((left, right) => left - right),
    TRIALS,
  );
});
