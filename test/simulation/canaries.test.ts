// Canaries: known bugs, planted while the code is loaded, that the simulation must find (faults row 18).
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileOf, mutate } from '../support/mutants.ts';
import { CANARIES } from './canaries/canaries.ts';
import { HUNT_NAMES } from '../support/simulation/hunts.ts';
import { PROFILE_NAMES } from '../support/simulation/profiles.ts';
import { runSeed } from '../support/simulation/run-seed.ts';
import { describeBroken } from '../support/simulation/describe-broken.ts';
import { searchCanary } from './canaries/search-canary.ts';

const root = path.resolve(import.meta.dirname, '../..');

test('row 18: there are ten canaries or more, and each still finds the one place that it changes', () => {
  const canaries = Object.values(CANARIES);
  assert.ok(canaries.length >= 10);
  for (const canary of canaries) {
    const source = readFileSync(path.join(root, fileOf(canary)), 'utf8');
    assert.notEqual(mutate(source, canary), source);
  }
});

test('row 18: each canary is looked for in a hunt or a profile, and each hunt for one', () => {
  const places = Object.values(CANARIES).map((canary) => canary.in);
  const known: readonly string[] = ['mixed', ...PROFILE_NAMES, ...HUNT_NAMES];
  assert.deepEqual(
    places.filter((place) => !known.includes(place)),
    [],
  );
  assert.deepEqual(
    HUNT_NAMES.filter((name) => !places.includes(name)),
    [],
  );
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

async function playUnplanted(profile: string, seed: number): Promise<void> {
  const result = await runSeed({ seed, profile });
  assert.equal(result.kind, 'held', result.kind === 'broken' ? describeBroken(result) : '');
}

// Fresh seeds of every hunt: test/simulation/hunts/run.ts, in CI; as many as a canary may need there, every night.
test('row 86: seeds of hunts that once broke a promise hold (lost state, late answer)', async () => {
  for (const [name, seed] of [
    ['lost-states', 7],
    ['overlapping-runs', 23],
  ] as const) {
    await playUnplanted(name, seed);
  }
});
