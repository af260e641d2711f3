/**
 * Plays, without a canary, wherever canaries are looked for (hunts and profiles), and for as many seeds as the most patient
 * of them may need there: what a canary is found by must be the canary. Fresh seeds come from the commit.
 *
 *   run.ts                                        the stated seeds of each, from 1
 *   run.ts --first commit --keep-to DIRECTORY     as many fresh ones; the plans of failures are kept there
 *   run.ts --first commit --each 5                five of each
 *
 * Exit code: 0 every promise held, 1 one was broken, 2 wrong usage.
 */
import { parseArgs } from 'node:util';
import { commitSeed } from '../../support/commit.ts';
import { STEPS_UNLESS_TOLD } from '../../support/simulation/run-seed.ts';
import { CANARIES } from '../canaries/canaries.ts';
import { runSimulation } from '../program/run-simulation.ts';
import { SeedThreads } from '../program/worker-pool.ts';

const THREADS = 2;
const SHRINK_MS = 60_000;

const { values } = parseArgs({
  options: {
    first: { type: 'string', default: '1' },
    each: { type: 'string' },
    'keep-to': { type: 'string' },
  },
});

/** Where canaries are looked for, with the most seeds that one of them may need. */
function statedSeeds(): ReadonlyMap<string, number> {
  const stated = new Map<string, number>();
  for (const { in: where, seedsMax } of Object.values(CANARIES)) {
    stated.set(where, Math.max(seedsMax, stated.get(where) ?? 0));
  }
  return stated;
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0) return number;
  process.stderr.write(`not a whole number: ${text}\n`);
  process.exit(2);
}

function firstSeed(): number {
  if (values.first !== 'commit') return wholeNumber(values.first);
  const { seed, source } = commitSeed();
  process.stdout.write(`first seed: ${source}\n`);
  return seed;
}

const first = firstSeed();
const each = values.each === undefined ? Infinity : wholeNumber(values.each);
const keepTo = values['keep-to'];
const startedMs = performance.now();
const threads = new SeedThreads(THREADS);
let isBroken = false;
for (const [profile, stated] of statedSeeds()) {
  const seedsCount = Math.min(stated, each);
  process.stdout.write(`\n${profile}: seeds ${first} to ${first + seedsCount - 1}\n`);
  const request = {
    first,
    seedsCount,
    stepsCount: STEPS_UNLESS_TOLD,
    profile,
    isTwice: false,
    isJson: false,
    isTracing: false,
    isBrief: true,
    shrinkMs: SHRINK_MS,
    ...(keepTo === undefined ? {} : { keepTo }),
  };
  const code = await runSimulation(request, threads);
  isBroken ||= code !== 0;
}
await threads.close();
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
process.stdout.write(`\n${isBroken ? 'broken' : 'every promise held'}, ${seconds} s\n`);
process.exitCode = isBroken ? 1 : 0;
