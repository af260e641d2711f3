/** Clusters that refuse patches of a status are remembered for a while (ADR 0031). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusPatches } from '../../../../../src/app/reconcile/process/process-cache.ts';

test('a cluster that refused a patch is asked again ten minutes later, and others at once', () => {
  const patches = new StatusPatches();
  patches.noteRefused('a', 1_000);
  assert.deepEqual([patches.mayPatch('a', 1_000), patches.mayPatch('b', 1_000)], [false, true]);
  assert.equal(patches.mayPatch('a', 600_999), false);
  assert.equal(patches.mayPatch('a', 601_000), true);
});

test('of very many clusters the one that refused first is forgotten', () => {
  const patches = new StatusPatches();
  for (let index = 0; index <= 10_000; index += 1) patches.noteRefused(String(index), 0);
  assert.deepEqual([patches.mayPatch('0', 1), patches.mayPatch('1', 1)], [true, false]);
});
