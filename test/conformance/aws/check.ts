/**
 * A suite as a list of checks, run against several implementations, with the differences that are known and accepted.
 *
 * A difference is not skipped: its check must fail, so a release that repairs it shows up and the entry goes. What
 * two references agree on is the contract of our own server, which has no accepted differences.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';

/** One statement about a service; it throws when the statement does not hold. */
export interface Check<Bench> {
  readonly name: string;
  readonly run: (bench: Bench) => Promise<void>;
}

/** Why an implementation fails a check, by the name of the check. */
export type KnownDifferences = Readonly<Record<string, string>>;

/** Registers a test for each check. */
export function registerChecks<Bench>(
  checks: readonly Check<Bench>[],
  differences: KnownDifferences,
  bench: () => Bench,
): void {
  const names = new Set(checks.map(({ name }) => name));
  for (const name of Object.keys(differences)) {
    assert.ok(names.has(name), `a difference is known for "${name}", which is no check`);
  }
  for (const { name, run } of checks) {
    const reason = differences[name];
    if (reason === undefined) {
      it(name, () => run(bench()));
    } else {
      it(`${name} (differs: ${reason})`, async () => {
        await assert.rejects(run(bench()), Error, `no longer differs: ${reason}`);
      });
    }
  }
}
