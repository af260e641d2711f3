/**
 * Stands in for fast-check while mutants are tried: every property runs with the same seed, and ends at the
 * first failure instead of shrinking it.
 *
 * A mutant must meet the same fate in every run of the tool, and nobody reads the counterexample. The number of
 * examples stays as the test has it: several tests demand that enough of them were of a kind.
 */
import fc from 'fast-check';

const SEED = 20_261;

type Assert = typeof fc.assert;

const assertSeeded = ((property: never, parameters: object = {}) =>
  fc.assert(property, {
    ...parameters,
    seed: SEED,
    endOnFailure: true,
    verbose: 0,
  })) as Assert;

/** fast-check, with an `assert` that always does the same. */
const seeded: typeof fc = { ...fc, assert: assertSeeded };

// eslint-disable-next-line no-restricted-syntax -- the tests import fast-check's default export
export default seeded;
