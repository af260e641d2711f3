// Canaries: known bugs, planted while the code is loaded, that the simulation must find (faults row 18).
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { playPlan } from '../support/simulation/play-plan.ts';
import { mutate } from '../support/mutants.ts';
import { CANARIES } from './canaries/canaries.ts';
import { HUNT_NAMES, drawHunt } from './canaries/hunts.ts';
import { searchCanary } from './canaries/search-canary.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('row 18: there are ten canaries or more, and each still finds the text that it changes', () => {
  const canaries = Object.values(CANARIES);
  assert.ok(canaries.length >= 10);
  for (const canary of canaries) {
    const source = readFileSync(path.join(root, canary.file), 'utf8');
    assert.notEqual(mutate(source, canary), source);
  }
});

describe('a canary', { concurrency: 2 }, () => {
  for (const [name, { seedsMax, breaks, isQuick }] of Object.entries(CANARIES)) {
    if (isQuick !== true) continue;
    test(`row 18: ${name} breaks ${breaks.join(' or ')} within ${seedsMax} seeds`, async () => {
      const search = await searchCanary(name);
      assert.ok(search.found !== null, JSON.stringify(search));
    });
  }
});

for (const name of HUNT_NAMES) {
  test(`row 18: without a canary every promise holds in the hunt ${name}`, async () => {
    const result = await playPlan(drawHunt(name, 1));
    assert.equal(result.kind, 'held', result.kind === 'broken' ? result.finding : '');
  });
}

test('row 86: seeds of hunts that once broke a promise hold (lost state, late answer)', async () => {
  for (const [name, seed] of [
    ['lost-states', 7],
    ['overlapping-runs', 23],
  ] as const) {
    const result = await playPlan(drawHunt(name, seed));
    assert.equal(result.kind, 'held', result.kind === 'broken' ? result.finding : '');
  }
});
