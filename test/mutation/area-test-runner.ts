/**
 * Stryker's plugin that runs the tests of one area inside its worker process: milliseconds for a mutant, where a
 * process for each would take hours.
 *
 * A mutant runs the tests that reach it, quick ones first, and stops at the first failure.
 * Three kinds of mutants need modules loaded again (test-bench.ts): those that run while the area loads (all tests are
 * tried, as any may see the constant), those in a module that remembers results between calls, and those that
 * fixtures run while a test file loads (that file alone). Endless loops are stopped where they pass a place that may be
 * changed (busy-bound.ts); the rest is Stryker's business: it counts hits, and replaces a worker that does not answer.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { InstrumenterContext, MutantCoverage } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  MutantRunStatus,
  TestStatus,
  type DryRunResult,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  type TestRunnerCapabilities,
} from '@stryker-mutator/api/test-runner';
import { AREA_VARIABLE, areaNamed } from './areas.ts';
import { BusyBound } from './busy-bound.ts';
import type { CollectedTest } from './collected-tests.ts';
import { TestBench } from './test-bench.ts';

/** A module-level container that a call can change: what a mutant leaves there would outlive it. */
const MEMORY = /^(?:const|let) \w+ = new (?:Map|WeakMap)\b/m;

/** Id under which hits count while a test file loads. */
const LOADING = 'loading ';

/** Longer tests are not run a second time before the first mutant. */
const QUICK_MS = 100;
/** Longer tests wait until the others have run, of whatever file they are. */
const AT_ONCE_MS = 10;

/** A test without a mutant, the first time. */
const FIRST_BOUND_MS = 120_000;
/** Virtual time makes tests quick: one that takes this much, and many times what it took, waits for what will not come. */
const BOUND_MS_MIN = 3_000;
const BOUND_FACTOR = 20;

/** The name under which Stryker's options ask for this runner. */
export const AREA_TEST_RUNNER = 'area';

class AreaTestRunner implements TestRunner {
  readonly #area = areaNamed(process.env[AREA_VARIABLE] ?? 'core');
  readonly #bench = new TestBench({
    root: process.cwd(),
    testGlobs: [...this.#area.quickTests, ...this.#area.slowTests],
  });
  readonly #durationsMs = new Map<string, number>();
  /** Mutants that a test file runs while it loads. */
  readonly #loadingHits = new Map<string, ReadonlySet<string>>();
  readonly #fileOfTest = new Map<string, string>();
  readonly #busyBound = new BusyBound(context());
  #isStale = false;

  capabilities(): TestRunnerCapabilities {
    return { reloadEnvironment: true };
  }

  async init(): Promise<void> {
    // Failed assertions are counted, not read.
    Error.stackTraceLimit = 0;
    // What runs while the sources load counts as static, so they are loaded before the fixtures of any test run.
    await this.#bench.loadSources(this.#sources());
    for (const file of this.#bench.testFiles()) await this.#loadObserved(file);
  }

  async dryRun(): Promise<DryRunResult> {
    const results: TestResult[] = [];
    for (const file of this.#bench.testFiles()) {
      for (const test of await this.#bench.tests(file)) {
        results.push(await this.#runForCoverage(test));
      }
    }
    delete context().currentTestId;
    const mutantCoverage = structuredClone(this.#coverage());
    const hasFailed = results.some(({ status }) => status === TestStatus.Failed);
    const errorMessage = hasFailed ? undefined : await this.#failureAfterReloading();
    if (errorMessage !== undefined) return { status: DryRunStatus.Error, errorMessage };
    return { status: DryRunStatus.Complete, tests: results, mutantCoverage };
  }

  /** Loading everything again must fail no test, or mutants would seem to be killed that are not. */
  async #failureAfterReloading(): Promise<string | undefined> {
    this.#bench.reload(this.#sources());
    for (const file of this.#bench.testFiles()) {
      const tests = await this.#bench.tests(file);
      const quick = tests.filter(({ id }) => (this.#durationsMs.get(id) ?? 0) <= QUICK_MS);
      for (const test of quick) {
        const { failure } = await this.#bench.run(test, this.#boundMsOf(test));
        if (failure !== undefined) return `after reloading: ${test.id}: ${failure}`;
      }
    }
    this.#bench.reload(undefined);
    return undefined;
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const startMs = performance.now();
    const hasMemory = MEMORY.test(readFileSync(options.sandboxFileName, 'utf8'));
    if (this.#isStale) this.#bench.forget();
    this.#isStale = false;
    const changed = path.relative(process.cwd(), options.sandboxFileName);
    this.#bench.reload(options.reloadEnvironment || hasMemory ? [changed] : undefined);
    const shared = context();
    shared.hitCount = 0;
    if (options.hitLimit === undefined) delete shared.hitLimit;
    else shared.hitLimit = options.hitLimit;
    this.#busyBound.activate(options.activeMutant.id);
    try {
      return await this.#tryTests(options, startMs);
    } finally {
      this.#busyBound.activate(undefined);
    }
  }

  async #tryTests(options: MutantRunOptions, startMs: number): Promise<MutantRunResult> {
    let nrOfTests = 0;
    const longer: CollectedTest[] = [];
    const fateAfter = async (
      tests: readonly CollectedTest[],
    ): Promise<MutantRunResult | undefined> => {
      for (const test of tests) {
        nrOfTests += 1;
        const fate = await this.#fateAfter(test, nrOfTests);
        if (fate !== undefined) return fate;
      }
      return undefined;
    };
    for (const [file, wanted] of this.#filesFor(options)) {
      let tests: readonly CollectedTest[];
      try {
        tests = this.#inOrder(await this.#testsWith(options, file), wanted);
      } catch (error) {
        return killed([...wanted][0] ?? file, String(error), nrOfTests);
      }
      longer.push(...tests.filter((test) => this.#durationMsOf(test) > AT_ONCE_MS));
      const fate = await fateAfter(tests.filter((test) => !longer.includes(test)));
      if (fate !== undefined) return fate;
    }
    const fate = await fateAfter(longer.sort((left, right) => this.#compare(left, right)));
    if (fate !== undefined) return fate;
    return { status: MutantRunStatus.Survived, nrOfTests, duration: performance.now() - startMs };
  }

  /** What became of the mutant by this test; undefined: nothing. */
  async #fateAfter(test: CollectedTest, nrOfTests: number): Promise<MutantRunResult | undefined> {
    const boundMs = this.#boundMsOf(test);
    this.#busyBound.begin(boundMs);
    const { failure, isOver } = await this.#bench.run(test, boundMs);
    const wasStopped = this.#busyBound.end();
    // What still runs would disturb the next mutant: everything is loaded anew.
    if (!isOver || wasStopped) this.#isStale = true;
    const { hitCount, hitLimit } = context();
    const reached = determineHitLimitReached(hitCount, hitLimit);
    if (reached !== undefined) return timedOut(reached.reason);
    if (wasStopped) return timedOut(failure);
    return failure === undefined ? undefined : killed(test.id, failure, nrOfTests);
  }

  /** The files to try, best first, each with the tests that are wanted of it. */
  #filesFor({ testFilter, activeMutant }: MutantRunOptions): [string, ReadonlySet<string>][] {
    const ids = testFilter ?? [...this.#fileOfTest.keys()];
    const byFile = Map.groupBy(ids, (id) => this.#fileOfTest.get(id) ?? '');
    const mirrored = path.basename(activeMutant.fileName, '.ts');
    const rank = (file: string): number => {
      if (file.endsWith(`/${mirrored}.test.ts`)) return file.startsWith('test/unit/') ? 0 : 2;
      return file.startsWith('test/unit/') ? 1 : 3;
    };
    return [...byFile]
      .sort(([left], [right]) => rank(left) - rank(right))
      .map(([file, wanted]) => [file, new Set(wanted)]);
  }

  /** Loading a file may itself run the mutant: then it is loaded while the mutant is active. */
  #testsWith({ activeMutant }: MutantRunOptions, file: string): Promise<readonly CollectedTest[]> {
    const isHit = this.#loadingHits.get(file)?.has(activeMutant.id) === true;
    return isHit ? this.#bench.loadAnew(file) : this.#bench.tests(file);
  }

  #inOrder(tests: readonly CollectedTest[], wanted: ReadonlySet<string>): CollectedTest[] {
    return (
      tests
        // A test that nobody knows has a title which the mutant changed: it is one of those that reach it.
        .filter((test) => wanted.has(test.id) || !this.#fileOfTest.has(test.id))
        .sort((left, right) => this.#compare(left, right))
    );
  }

  #sources(): readonly string[] {
    return this.#area.sources.flatMap((glob) => globSync(glob));
  }

  #durationMsOf(test: CollectedTest): number {
    return this.#durationsMs.get(test.id) ?? 0;
  }

  #compare(left: CollectedTest, right: CollectedTest): number {
    return this.#durationMsOf(left) - this.#durationMsOf(right);
  }

  async #loadObserved(file: string): Promise<void> {
    const shared = context();
    shared.currentTestId = `${LOADING}${file}`;
    const tests = await this.#bench.tests(file);
    delete shared.currentTestId;
    const hits = shared.mutantCoverage?.perTest[`${LOADING}${file}`] ?? {};
    this.#loadingHits.set(file, new Set(Object.keys(hits)));
    for (const test of tests) this.#fileOfTest.set(test.id, file);
  }

  #boundMsOf(test: CollectedTest): number {
    return Math.max(BOUND_MS_MIN, BOUND_FACTOR * this.#durationMsOf(test));
  }

  async #runForCoverage(test: CollectedTest): Promise<TestResult> {
    context().currentTestId = test.id;
    const { failure, durationMs } = await this.#bench.run(test, FIRST_BOUND_MS);
    this.#durationsMs.set(test.id, durationMs);
    const base = { id: test.id, name: test.title, timeSpentMs: durationMs };
    if (failure === undefined) return { ...base, status: TestStatus.Success };
    return { ...base, status: TestStatus.Failed, failureMessage: failure };
  }

  /** Hits while a file loads count as hits of each of its tests. */
  #coverage(): MutantCoverage {
    const seen = context().mutantCoverage ?? { static: {}, perTest: {} };
    const perTest: MutantCoverage['perTest'] = {};
    for (const [id, file] of this.#fileOfTest) {
      const merged = { ...seen.perTest[id] };
      for (const [mutant, hits] of Object.entries(seen.perTest[`${LOADING}${file}`] ?? {})) {
        merged[mutant] = (merged[mutant] ?? 0) + hits;
      }
      perTest[id] = merged;
    }
    return { static: seen.static, perTest };
  }
}

function killed(test: string, failureMessage: string, nrOfTests: number): MutantRunResult {
  return { status: MutantRunStatus.Killed, killedBy: [test], failureMessage, nrOfTests };
}

function timedOut(reason: string | undefined): MutantRunResult {
  return { status: MutantRunStatus.Timeout, ...(reason === undefined ? {} : { reason }) };
}

function context(): InstrumenterContext {
  const holder = globalThis as { __stryker__?: InstrumenterContext };
  holder.__stryker__ ??= {};
  return holder.__stryker__;
}

/** What Stryker looks for in a plugin. */
export const strykerPlugins = [
  declareClassPlugin(PluginKind.TestRunner, AREA_TEST_RUNNER, AreaTestRunner),
];
