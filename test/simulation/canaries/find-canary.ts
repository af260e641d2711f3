/**
 * Looks for one canary, in a process of its own: node scripts/launch.mjs test/simulation/canaries/find-canary.ts NAME [SEEDS]
 *
 * Prints one line of JSON: whether it was found, by which promise, at which seed, and what else was seen on the way. A
 * seed that fails for another reason than a promise of the canary (the changed code crashed, a fault could not happen)
 * is not a find. The exit code is 0 in any case.
 */
import { plantMutant } from '../../support/mutants.ts';
import { CANARIES } from './canaries.ts';

export interface CanarySearch {
  readonly name: string;
  readonly in: string;
  readonly found: { readonly seed: number; readonly rule: string; readonly finding: string } | null;
  /** Seeds that were played. */
  readonly seeds: number;
  /** Seeds that failed otherwise, by rule. */
  readonly others: Readonly<Record<string, number>>;
  readonly tookMs: number;
}

const [name = '', seeds] = process.argv.slice(2);
const canary = CANARIES[name];
if (canary === undefined) {
  throw new Error(`no canary named ${name}; there are ${Object.keys(CANARIES).join(', ')}`);
}
const planted = plantMutant(name, canary);
// Only now: what is imported earlier cannot be changed while it is loaded.
const { runSeed } = await import('../../support/simulation/run-seed.ts');
planted.assertLoaded();

const startedAtMs = performance.now();
const seedsMax = seeds === undefined ? canary.seedsMax : Number(seeds);
const others: Record<string, number> = {};
let found: CanarySearch['found'] = null;
const before = (canary.firstSeed ?? 1) - 1;
let seed = before;
while (seed < before + seedsMax && found === null) {
  seed += 1;
  const result = await runSeed({ seed, profile: canary.in });
  if (result.kind === 'held') continue;
  const { rule, finding } = result;
  if (canary.breaks.includes(rule)) found = { seed, rule, finding };
  else others[rule] = (others[rule] ?? 0) + 1;
}
const tookMs = Math.round(performance.now() - startedAtMs);
const search: CanarySearch = { name, in: canary.in, found, seeds: seed - before, others, tookMs };
process.stdout.write(`${JSON.stringify(search)}\n`);
