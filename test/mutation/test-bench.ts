/**
 * Loads the tests of an area into this process and runs them one by one, as often as asked.
 *
 * Modules get a query in their address: `core` counts loadings of the sources, `tests` counts loadings of test files.
 * So a test file can be loaded again (its fixtures call the sources while they load), and the sources themselves (constants are
 * computed while they load), without a new process. A test file has its own copy of test/support. A test that waits for what
 * a mutant took away is given up: that is a failure, and the bench says that it may still run.
 */
import { registerHooks } from 'node:module';
import { globSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { beginFile, collectedTests, type CollectedTest } from './collected-tests.ts';

const COLLECTOR_URL = new URL('./collected-tests.ts', import.meta.url).href;
const FAST_CHECK_URL = new URL('./seeded-fast-check.ts', import.meta.url).href;

/** What a test came to. */
export interface TestOutcome {
  /** The failure's message; undefined means passed. */
  readonly failure: string | undefined;
  readonly durationMs: number;
  /** False: it was given up, and may still run. */
  readonly isOver: boolean;
}

/** Where the tests are, and which of them. */
export interface BenchPlace {
  /** The project, or a copy of it; absolute. */
  readonly root: string;
  /** Globs of test files below the root. */
  readonly testGlobs: readonly string[];
}

/** The tests of an area, ready to run in this process. Only one may exist per process: its hooks stay. */
export class TestBench {
  readonly #place: BenchPlace;
  readonly #rootUrl: string;
  readonly #loaded = new Map<string, readonly CollectedTest[]>();
  #coreLoadings = 0;
  #testLoadings = 0;

  constructor(place: BenchPlace) {
    this.#place = place;
    this.#rootUrl = `${pathToFileURL(place.root).href}/`;
    this.#registerHooks();
  }

  /** All test files, as paths from the root. */
  testFiles(): readonly string[] {
    return this.#place.testGlobs
      .flatMap((glob) => globSync(glob, { cwd: this.#place.root }))
      .map((file) => file.split(path.sep).join('/'))
      .sort();
  }

  /** Forgets every loaded module: the next loading starts with the sources. */
  forget(): void {
    this.#loaded.clear();
    this.#coreLoadings += 1;
  }

  /** Loads sources that no test has loaded yet. Throws what they throw. */
  async loadSources(files: readonly string[]): Promise<void> {
    for (const file of files) {
      await import(`${this.#rootUrl}${file}?core=${this.#coreLoadings}`);
    }
  }

  /** The tests of a file, loaded if they are not yet. Throws what the file throws. */
  async tests(file: string): Promise<readonly CollectedTest[]> {
    const known = this.#loaded.get(file);
    if (known !== undefined) return known;
    const tests = await this.loadAnew(file);
    this.#loaded.set(file, tests);
    return tests;
  }

  /** The tests of a file from a loading of their own, which is not remembered. */
  async loadAnew(file: string): Promise<readonly CollectedTest[]> {
    this.#testLoadings += 1;
    beginFile(file);
    await import(`${this.#rootUrl}${file}?core=${this.#coreLoadings}&tests=${this.#testLoadings}`);
    return collectedTests();
  }

  /** Runs one test, for `boundMs` at most if it waits. */
  async run(test: CollectedTest, boundMs: number): Promise<TestOutcome> {
    const startMs = performance.now();
    let failure: string | undefined;
    let isOver = true;
    const givenUp = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      isOver = false;
      givenUp.reject(new Error(`not over after ${boundMs} ms`));
    }, boundMs);
    try {
      await Promise.race([test.run(), givenUp.promise]);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
    }
    return { failure, isOver, durationMs: performance.now() - startMs };
  }

  #registerHooks(): void {
    registerHooks({
      resolve: (specifier, context, nextResolve) => {
        const parent = context.parentURL ?? '';
        if (!parent.startsWith(this.#rootUrl)) return nextResolve(specifier, context);
        if (specifier === 'node:test') return nextResolve(COLLECTOR_URL, context);
        if (specifier === 'fast-check') return nextResolve(FAST_CHECK_URL, context);
        const resolved = nextResolve(specifier, context);
        const query = this.#queryFor(resolved.url, parent);
        return query === undefined ? resolved : { ...resolved, url: `${resolved.url}?${query}` };
      },
    });
  }

  #queryFor(url: string, parent: string): string | undefined {
    if (!url.startsWith(this.#rootUrl) || url.includes('/node_modules/')) return undefined;
    const { searchParams } = new URL(parent);
    const core = `core=${searchParams.get('core') ?? this.#coreLoadings}`;
    const isTest = url.startsWith(`${this.#rootUrl}test/`);
    return isTest ? `${core}&tests=${searchParams.get('tests') ?? 0}` : core;
  }
}
