/**
 * Plays seeds of the deterministic simulation: `npm run sim -- --help` (docs/testing.md).
 *
 * Exit code: 0 every promise held, 1 one was broken or a fault that was demanded did not happen, 2 wrong usage.
 */
import { Command, InvalidArgumentError, Option } from 'commander';
import { commitSeed } from '../../support/commit.ts';
import { HUNT_NAMES } from '../../support/simulation/hunts.ts';
import { KEPT_DIRECTORY, readKept } from '../../support/simulation/kept-plan.ts';
import { PROFILE_NAMES } from '../../support/simulation/profiles.ts';
import { STEPS_UNLESS_TOLD } from '../../support/simulation/run-seed.ts';
import { runSimulation, type SimulationRequest } from './run-simulation.ts';
import { SeedThreads } from './worker-pool.ts';
import { describeBroken } from '../../support/simulation/describe-broken.ts';
import { playPlan } from '../../support/simulation/play-plan.ts';

function wholeNumber(text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('not a whole number');
}

/** A seed, or the first of a commit's own: no two commits play the same, and one plays the same each time. */
function firstSeed(text: string): number {
  if (text !== 'commit') return wholeNumber(text);
  const { seed, source } = commitSeed();
  console.error(`first seed: ${source}`);
  return seed;
}

interface Values {
  readonly seeds: number;
  readonly first: number;
  readonly seed?: number;
  readonly steps: number;
  readonly profile: string;
  readonly workers: number;
  readonly twice: boolean;
  readonly json: boolean;
  readonly trace: boolean;
  readonly replay?: string;
  readonly keep: boolean;
  readonly keepTo: string;
  readonly shrinkSeconds: number;
}

const program = new Command()
  .name('npm run sim --')
  .description('Plays seeded schedules of faults against the real code on virtual time.')
  .option('--seeds <count>', 'how many seeds', wholeNumber, 200)
  .option('--first <seed>', 'the first of them, or `commit`', firstSeed, 1)
  .option('--seed <seed>', 'this seed only', wholeNumber)
  .option('--steps <count>', 'steps of each seed', wholeNumber, STEPS_UNLESS_TOLD)
  .addOption(
    new Option('--profile <name>', 'mix of faults, or hunt')
      .choices(['mixed', ...PROFILE_NAMES, ...HUNT_NAMES])
      .default('mixed'),
  )
  .option('--workers <count>', 'threads that play', wholeNumber, 2)
  .option('--twice', 'play each seed twice and compare the traces', false)
  .option('--json', 'print one JSON document at the end', false)
  .option('--trace', 'print the whole trace of each seed', false)
  .option('--replay <file>', 'play a kept plan')
  .option('--keep-to <directory>', 'keep the plan of a failure there', KEPT_DIRECTORY)
  .option('--no-keep', 'keep it nowhere')
  .option('--shrink-seconds <count>', 'time for making a failure small', wholeNumber, 60)
  .exitOverride((error) => {
    process.exit(error.exitCode === 0 ? 0 : 2);
  })
  .parse();

function requestOf(values: Values): SimulationRequest {
  const { seed, seeds, first, steps, profile, twice, json, trace } = values;
  return {
    first: seed ?? first,
    seedsCount: seed === undefined ? seeds : 1,
    stepsCount: steps,
    profile,
    isTwice: twice,
    isJson: json,
    isTracing: trace,
    isBrief: false,
    ...(values.keep ? { keepTo: values.keepTo } : {}),
    shrinkMs: values.shrinkSeconds * 1000,
  };
}

async function simulate(values: Values): Promise<number> {
  const threads = new SeedThreads(Math.max(1, values.workers));
  try {
    return await runSimulation(requestOf(values), threads);
  } finally {
    await threads.close();
  }
}

const values = program.opts<Values>();
process.exitCode =
  values.replay === undefined
    ? await simulate(values)
    : await replayKept(values.replay, values.trace);

/** Plays the plan of a file; answers the exit code. */
async function replayKept(file: string, isTracing: boolean): Promise<number> {
  const { broke, plan } = readKept(file);
  console.log(`once broke ${broke.rule} at commit ${broke.commit}: ${broke.finding}`);
  const result = await playPlan(plan);
  if (isTracing) console.log(result.trace.join('\n'));
  if (result.kind === 'held') {
    console.log('every promise held');
    return 0;
  }
  console.log(describeBroken(result, `npm run sim -- --replay ${file}`));
  return 1;
}
