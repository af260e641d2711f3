/**
 * One run of the differential suite from the command line: plays, prints, logs, shrinks and keeps.
 */
import { appendFileSync } from 'node:fs';
import { judgeRun } from './excused.ts';
import { generateScenario } from './generate.ts';
import { keepScenario, readScenario } from './kept-scenarios.ts';
import { measureLateness } from './lateness.ts';
import { MUTANTS } from './mutants.ts';
import type { PlantedMutant } from '../support/mutants.ts';
import { openPair, type Pair } from './pair.ts';
import type { PlayResult } from './play.ts';
import { readPlanes } from './planes.ts';
import { playDisagreementsAgain } from './play-again.ts';
import { isDisagreement, playAll } from './play-all.ts';
import { causesOf, describeDisagreement, logEntry, progressLine, summaryTable } from './report.ts';
import type { Scenario, Step } from './scenario.ts';
import { countKinds } from './step-kinds.ts';

/** What to shrink, and for how long. */
interface ShrinkOptions {
  readonly result: PlayResult;
  readonly placePrefix: string;
  readonly atOnceMax: number;
  readonly deadlineMs: number;
}

/** Shorter than in the run, so that more trials fit; what was only late may then not show again. */
const SHRINK_DIFFERENCE_MS = 22_000;

/** The shortest scenario found; the given one (up to its failed step) where it does not show again. */
async function shrinkScenario(pair: Pair, options: ShrinkOptions): Promise<Scenario> {
  const { result } = options;
  const endsAtMs = performance.now() + options.deadlineMs;
  const goal = new Set(causesOf(result));
  const last = result.failedStep ?? result.scenario.steps.length - 1;
  let kept: readonly Step[] = result.scenario.steps.slice(0, last + 1);
  let round = 0;
  const firstThatShows = async (
    candidates: readonly (readonly Step[])[],
  ): Promise<readonly Step[] | undefined> => {
    round += 1;
    const results = await playAll(pair, {
      scenarios: candidates.map((steps) => ({ title: result.scenario.title, steps })),
      atOnceMax: options.atOnceMax,
      differenceMs: SHRINK_DIFFERENCE_MS,
      placePrefix: `${options.placePrefix}r${round}x`,
      isEnough: () => performance.now() > endsAtMs,
    });
    const found = results.find(
      (it) => isDisagreement(it) && causesOf(it).some((cause) => goal.has(cause)),
    );
    return found?.scenario.steps.slice(0, (found.failedStep ?? Infinity) + 1);
  };
  let size = Math.ceil(kept.length / 2);
  while (size >= 1 && performance.now() < endsAtMs) {
    const shorter = await firstThatShows(withoutParts(kept, size));
    if (shorter !== undefined) kept = shorter;
    else size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  return { title: `${result.scenario.title}, shrunk`, steps: kept };
}

/** Every way to leave out one run of `size` steps; the last step stays, since it shows the difference. */
function withoutParts(steps: readonly Step[], size: number): readonly (readonly Step[])[] {
  const candidates: (readonly Step[])[] = [];
  for (let start = 0; start < steps.length - 1; start += size) {
    const end = Math.min(start + size, steps.length - 1);
    candidates.push([...steps.slice(0, start), ...steps.slice(end)]);
  }
  return candidates;
}

export interface DifferentialRequest {
  readonly seed: number;
  readonly stepsCount: number;
  readonly scenariosCount: number;
  readonly from: number;
  readonly atOnceMax: number;
  readonly shrinkMs: number;
  /** Plays this scenario instead of drawn ones. */
  readonly file: string | undefined;
  readonly mutant: string | undefined;
  readonly isStoppedAtFirst: boolean;
  readonly isKeeping: boolean;
  readonly isJson: boolean;
  readonly logPath: string | undefined;
  /** Shares the control planes that this file names (planes.ts). */
  readonly planesPath: string | undefined;
  readonly placePrefix: string;
  /** Keeps shrunk disagreements there, not with those that the suite plays. */
  readonly keepDirectory: string | undefined;
}

/** A mutant is right or wrong soon: nobody asks what is only late. */
const MUTANT_DIFFERENCE_MS = 12_000;

/** Runs, and resolves to the exit code. */
export async function runDifferential(
  request: DifferentialRequest,
  planted: PlantedMutant | undefined,
): Promise<number> {
  const { planesPath, placePrefix } = request;
  const pair = await openPair(planesPath === undefined ? undefined : readPlanes(planesPath));
  const startedAtMs = performance.now();
  try {
    planted?.assertLoaded();
    const results: PlayResult[] = [];
    await playAll(pair, {
      scenarios: scenariosOf(request),
      atOnceMax: request.atOnceMax,
      placePrefix,
      ...(request.mutant === undefined ? {} : { differenceMs: MUTANT_DIFFERENCE_MS }),
      isEnough: () => request.isStoppedAtFirst && results.some((it) => isCaught(request, it)),
      onResult: (result) => {
        results.push(result);
        report(request, result);
      },
    });
    const elapsedMs = performance.now() - startedAtMs;
    if (!request.isJson) process.stdout.write(summaryTable(results, elapsedMs));
    if (request.mutant !== undefined) return reportMutant(request, results);
    const { disagreements, excused } = judgeRun(
      await playDisagreementsAgain(pair, results, `${placePrefix}a`),
    );
    // Standard error: with --json the rest is for programs.
    for (const { scenario } of excused) process.stderr.write(`by chance: ${scenario.title}\n`);
    for (const { scenario } of disagreements) process.stderr.write(`stays: ${scenario.title}\n`);
    if (request.isKeeping) await shrinkAndKeep(pair, request, disagreements);
    const isLate = measureLateness(results).faults.length > 0;
    return disagreements.length === 0 && !isLate ? 0 : 1;
  } finally {
    await pair.close();
  }
}

function scenariosOf(request: DifferentialRequest): readonly Scenario[] {
  if (request.file !== undefined) return [readScenario(request.file)];
  const { seed, from, stepsCount, scenariosCount, mutant } = request;
  const needs = mutant === undefined ? undefined : MUTANTS[mutant]?.needs;
  const found: Scenario[] = [];
  for (let index = from; found.length < scenariosCount; index += 1) {
    const scenario = generateScenario({ seed, index, stepsCount });
    if (needs === undefined || countKinds(scenario.steps)[needs] > 0) found.push(scenario);
  }
  return found;
}

function report(request: DifferentialRequest, result: PlayResult): void {
  const entry = `${JSON.stringify(logEntry(result))}\n`;
  if (request.logPath !== undefined) appendFileSync(request.logPath, entry);
  if (request.isJson) {
    process.stdout.write(entry);
    return;
  }
  process.stdout.write(`${progressLine(result)}\n`);
  if (!isDisagreement(result)) return;
  process.stdout.write(describeDisagreement(result, replayCommand(request, result)));
}

function replayCommand(request: DifferentialRequest, { scenario }: PlayResult): string {
  const command = 'npm run test:differential --';
  const index = /scenario (\d+)/.exec(scenario.title)?.[1];
  if (request.file !== undefined || index === undefined)
    return `${command} --file ${request.file ?? '?'}`;
  const mutant = request.mutant === undefined ? '' : ` --mutant ${request.mutant}`;
  const { seed, stepsCount } = request;
  return `${command} --seed ${seed} --steps ${stepsCount} --from ${index} --scenarios 1${mutant}`;
}

/** A mutant is caught by what shows it; without one, any disagreement counts. */
function isCaught({ mutant }: DifferentialRequest, result: PlayResult): boolean {
  const shownBy = mutant === undefined ? undefined : MUTANTS[mutant]?.shownBy;
  if (shownBy === undefined) return isDisagreement(result);
  return causesOf(result).some((cause) => shownBy.includes(cause));
}

function reportMutant(request: DifferentialRequest, results: readonly PlayResult[]): number {
  const caught = results.find((it) => isCaught(request, it));
  const text =
    caught === undefined
      ? `mutant ${request.mutant ?? ''} was not caught within ${results.length} scenarios`
      : `mutant ${request.mutant ?? ''} was caught by ${causesOf(caught).join(', ')} in ${caught.scenario.title}`;
  process.stdout.write(`${text}\n`);
  return caught === undefined ? 1 : 0;
}

async function shrinkAndKeep(
  pair: Pair,
  request: DifferentialRequest,
  disagreements: readonly PlayResult[],
): Promise<void> {
  for (const [number, result] of disagreements.entries()) {
    const deadlineMs = request.shrinkMs;
    const { atOnceMax } = request;
    const placePrefix = `${request.placePrefix}k${number}`;
    const shrunk = await shrinkScenario(pair, { result, placePrefix, atOnceMax, deadlineMs });
    const path = keepScenario(shrunk, request.keepDirectory);
    process.stdout.write(`kept ${shrunk.steps.length} steps: ${path}\n`);
  }
}
