/**
 * The deliberate errors of the differential suite still find the text that they change.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../../conformance/scenarios/repository.ts';
import { MUTANTS, plantDifferentialMutant } from '../../differential/mutants.ts';

describe('a mutant of the differential suite', () => {
  for (const [name, { file, before, after }] of Object.entries(MUTANTS)) {
    it(`(${name}) changes a text that ${file} holds exactly once`, () => {
      const source = readFileSync(repositoryPath(file), 'utf8');
      assert.equal(source.split(before).length, 2);
      assert.notEqual(before, after);
    });
  }

  it('must be one of those that exist', () => {
    assert.throws(
      () => plantDifferentialMutant('no-such-mutant'),
      /no mutant named no-such-mutant/,
    );
  });
});
