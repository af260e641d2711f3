/**
 * The deliberate errors of the differential suite still find the place that they change.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../../conformance/scenarios/repository.ts';
import { MUTANTS, plantDifferentialMutant } from '../../differential/mutants.ts';
import { fileOf, mutate } from '../../support/mutants.ts';

describe('a mutant of the differential suite', () => {
  for (const [name, mutant] of Object.entries(MUTANTS)) {
    it(`(${name}) finds its one place`, () => {
      const source = readFileSync(repositoryPath(fileOf(mutant)), 'utf8');
      assert.notEqual(mutate(source, mutant), source);
    });
  }

  it('must be one of those that exist', () => {
    assert.throws(
      () => plantDifferentialMutant('no-such-mutant'),
      /no mutant named no-such-mutant/,
    );
  });
});
