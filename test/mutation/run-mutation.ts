/**
 * One run of mutation testing: what to change, Stryker over it, the compiler over what survived, the report.
 *
 * Stryker makes a copy of the area and its tests below .cache/mutation and changes that one; the work tree is only
 * read. A survivor that the compiler refuses is not a change that anybody could commit (`npm run check:types`), so it
 * counts neither as killed nor as survived.
 */
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { LogLevel, MutantResult, PartialStrykerOptions } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { AREA_TEST_RUNNER } from './area-test-runner.ts';
import { AREA_VARIABLE, type MutationArea } from './areas.ts';
import { changedFiles } from './changed-files.ts';
import { CompilerJudge } from './compiler-judge.ts';
import { findUnreasoned } from './exclusions.ts';
import { drawFrom, mutatorList, type Sample } from './mutator-list.ts';
import { addNumberMutator } from './number-mutator.ts';
import { isSurvivor, printReport, summarise, type MutationSummary } from './report.ts';

/** Percent of the mutants that may be excluded, over a whole area. */
const EXCLUDED_PERCENT_MAX = 2;

/** A mutant is slow for a reason of the machine, or endless: this much beside one and a half times its tests' own time. */
const TIMEOUT_MS = 5000;

/** All tests once, and most of them again after reloading: seconds, on a machine with time. */
const DRY_RUN_MINUTES = 30;

export interface MutationRequest {
  readonly area: MutationArea;
  /** Files of the area; empty means all. */
  readonly globs: readonly string[];
  /** Only what changed since this revision. */
  readonly since: string | undefined;
  /** Only so many of the mutants. */
  readonly sample: Sample | undefined;
  readonly workersCount: number;
  /** Without the property tests. */
  readonly isFast: boolean;
  readonly isJson: boolean;
}

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** Runs and prints; resolves to the exit code: 0 enough killed, 1 not. */
export async function runMutation(request: MutationRequest): Promise<number> {
  const startMs = performance.now();
  process.chdir(root);
  process.env[AREA_VARIABLE] = request.area.name;
  // Modules are loaded again under new addresses: Node would keep each of them.
  process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';
  await addNumberMutator();
  if (request.sample !== undefined) {
    const { percent, seed } = request.sample;
    process.stderr.write(`a sample: --sample ${percent} --seed ${seed}\n`);
    drawFrom(await mutatorList(), request.sample);
  }
  const mutate = filesToMutate(request);
  let results: readonly MutantResult[];
  try {
    results = mutate.length === 0 ? [] : await tryInStages(mutate, request);
  } catch (error) {
    // Stryker has printed which tests fail without any mutant, or what else went wrong.
    process.stderr.write(`rollcall: no mutant was tried: ${String(error)}\n`);
    return 1;
  }
  const summary = summarise({
    results,
    root,
    durationMs: performance.now() - startMs,
  });
  if (request.isJson) process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
  else printReport(request.area.name, summary);
  const isWhole =
    request.globs.length === 0 && request.since === undefined && request.sample === undefined;
  const complaints = [...judge(summary, boundsOf(request), isWhole), ...findUnreasoned('src')];
  for (const complaint of complaints) process.stderr.write(`rollcall: ${complaint}\n`);
  return complaints.length === 0 ? 0 : 1;
}

function filesToMutate({ area, globs, since }: MutationRequest): readonly string[] {
  const changed = since === undefined ? undefined : changedFiles(since, area);
  if (changed === undefined) return globs.length === 0 ? area.sources : globs;
  if (globs.length === 0) return changed;
  return changed.filter((file) => globs.some((glob) => path.matchesGlob(file, glob)));
}

/**
 * The unit tests kill nearly all, in milliseconds. The property tests, which take seconds for a mutant that survives
 * them, see only those that are left and that compile.
 */
async function tryInStages(
  mutate: readonly string[],
  request: MutationRequest,
): Promise<readonly MutantResult[]> {
  const { quickTests, slowTests, tsconfig } = request.area;
  const tried = await tryMutants(mutate, { ...request, testGlobs: quickTests });
  const first = refuseByCompiler(tried, tsconfig);
  const left = first.filter(isSurvivor);
  if (request.isFast || left.length === 0 || slowTests.length === 0) return first;
  const lines = new Set(
    left.map(({ fileName, location }) => {
      const { start, end } = location;
      return `${path.relative(root, fileName)}:${start.line}-${end.line}`;
    }),
  );
  const all = [...quickTests, ...slowTests];
  const second = await tryMutants([...lines], { ...request, testGlobs: all });
  const fates = new Map(second.map((mutant) => [keyOf(mutant), mutant]));
  return first.map((mutant) =>
    isSurvivor(mutant) ? (fates.get(keyOf(mutant)) ?? mutant) : mutant,
  );
}

function keyOf({ fileName, location, mutatorName, replacement }: MutantResult): string {
  return JSON.stringify([fileName, location, mutatorName, replacement]);
}

async function tryMutants(
  mutate: readonly string[],
  by: Pick<MutationRequest, 'area' | 'workersCount' | 'isJson'> & {
    readonly testGlobs: readonly string[];
  },
): Promise<readonly MutantResult[]> {
  const copied = [...by.area.support, ...by.testGlobs];
  const options: PartialStrykerOptions = {
    testRunner: AREA_TEST_RUNNER,
    plugins: [fileURLToPath(new URL('./area-test-runner.ts', import.meta.url))],
    mutate: [...mutate],
    ignorePatterns: ['**', ...copied.map((glob) => `!${glob}`)],
    coverageAnalysis: 'perTest',
    concurrency: by.workersCount,
    reporters: by.isJson ? [] : ['progress-append-only'],
    tempDirName: '.cache/mutation',
    cleanTempDir: 'always',
    timeoutMS: TIMEOUT_MS,
    timeoutFactor: 1.5,
    dryRunTimeoutMinutes: DRY_RUN_MINUTES,
    disableTypeChecks: false,
    symlinkNodeModules: false,
    logLevel: 'error' as LogLevel,
    allowEmpty: true,
  };
  return new Stryker(options).runMutationTest();
}

/** Survivors that do not compile become compile errors, as Stryker's own checkers call them. */
function refuseByCompiler(
  results: readonly MutantResult[],
  tsconfig: string,
): readonly MutantResult[] {
  const compiler = new CompilerJudge(path.join(root, tsconfig));
  return results.map((result) => {
    if (!isSurvivor(result)) return result;
    const refusal = compiler.refusal({
      file: path.resolve(root, result.fileName),
      location: result.location,
      replacement: result.replacement,
    });
    if (refusal === undefined) return result;
    return { ...result, status: 'CompileError', statusReason: refusal };
  });
}

type Bounds = Pick<MutationArea, 'thresholdPercent' | 'strictThresholdPercent'>;

function boundsOf({ area, isFast }: MutationRequest): Bounds {
  return isFast ? (area.fast ?? area) : area;
}

/** Of a normal distribution, 1 of 100 draws lies further below the mean than this many standard deviations. */
const ONE_IN_A_HUNDRED = 2.326;

/**
 * How far a sample may lie below the threshold by chance, in percentage points: an area that is exactly at its threshold fails
 * one draw in a hundred. The whole area, which the night tries, has no such allowance.
 */
function samplingErrorPercent(
  { killed, survived }: MutationSummary,
  thresholdPercent: number,
): number {
  const tried = killed + survived;
  if (tried === 0) return 0;
  return ONE_IN_A_HUNDRED * Math.sqrt((thresholdPercent * (100 - thresholdPercent)) / tried);
}

function judge(
  summary: MutationSummary,
  { thresholdPercent, strictThresholdPercent }: Bounds,
  isWhole: boolean,
): readonly string[] {
  const complaints: string[] = [];
  const allowancePercent = isWhole ? 0 : samplingErrorPercent(summary, thresholdPercent);
  if (summary.scorePercent < thresholdPercent - allowancePercent) {
    complaints.push(
      `${summary.scorePercent.toFixed(1)} % of the mutants were killed, less than ${thresholdPercent} %` +
        (isWhole ? '' : ` by more than a draw explains (${allowancePercent.toFixed(1)} points)`),
    );
  }
  if (isWhole && summary.strictScorePercent < strictThresholdPercent) {
    complaints.push('the compiler refuses so many survivors that the score says little');
  }
  if (isWhole && summary.excludedPercent > EXCLUDED_PERCENT_MAX) {
    complaints.push(
      `${summary.excludedPercent.toFixed(1)} % of the mutants are excluded, more than ${EXCLUDED_PERCENT_MAX} %`,
    );
  }
  return complaints;
}
