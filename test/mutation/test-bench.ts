/**
 * Loads the tests of an area into this process and runs them one by one, as often as asked.
 *
 * Modules get a query in their address: `at` counts loadings of the sources, `tests` counts loadings of test files.
 * So a test file can be loaded again (its fixtures call the sources while they load), and the sources themselves (constants are
 * computed while they load), without a new process. A source that is loaded again takes those with it that load it, and no
 * others (module-versions.ts). A test file has its own copy of test/support. A test that waits for what a mutant took away is
 * given up: that is a failure, and the bench says whether it may still run.
 */
import { registerHooks } from 'node:module';
import { globSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import { beginFile, collectedTests, type CollectedTest } from './collected-tests.ts';
import { ModuleVersions } from './module-versions.ts';
import { Patience } from './patience.ts';

const COLLECTOR_URL = new URL('./collected-tests.ts', import.meta.url).href;
const FAST_CHECK_URL = new URL('./seeded-fast-check.ts', import.meta.url).href;

export interface TestOutcome {
  /** The failure's message; undefined means passed. */
  readonly failure: string | undefined;
  readonly durationMs: number;
  /** False: it was given up, and may still run. One that waits while nothing runs is over. */
  readonly isOver: boolean;
}

/** Where the tests are, and which of them. */
export interface BenchPlace {
  /** The project, or a copy of it; absolute. */
  readonly root: string;
  /** Globs of test files below the root. */
  readonly testGlobs: readonly string[];
}

type Tests = readonly CollectedTest[];

/** The tests of an area, ready to run in this process. Only one may exist per process: its hooks stay. */
export class TestBench {
  readonly #place: BenchPlace;
  readonly #rootUrl: string;
  readonly #versions = new ModuleVersions();
  /** Loadings of test files that stay: number and tests. */
  readonly #kept = new Map<string, { readonly loading: number; readonly tests: Tests }>();
  /** The same of the sources that are loaded anew for one mutant. */
  readonly #anew = new Map<string, Tests>();
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
    this.#kept.clear();
    this.#anew.clear();
    this.#versions.beginAll();
  }

  /** From now on these sources, and what loads them, are loaded anew; `undefined` goes back to what was loaded before. */
  reload(files: readonly string[] | undefined): void {
    this.#anew.clear();
    if (files === undefined) this.#versions.end();
    else this.#versions.begin(files);
  }

  /** Loads sources that no test has loaded yet. Throws what they throw. */
  async loadSources(files: readonly string[]): Promise<void> {
    for (const file of files) {
      await import(`${this.#rootUrl}${file}?at=${this.#versions.of(file)}`);
    }
  }

  /** The tests of a file, loaded if they are not yet. Throws what the file throws. */
  async tests(file: string): Promise<Tests> {
    const kept = this.#kept.get(file);
    if (this.#versions.isAnew(file)) {
      const known = this.#anew.get(file) ?? (await this.#load(file, kept?.loading));
      this.#anew.set(file, known);
      return known;
    }
    if (kept !== undefined) return kept.tests;
    const tests = await this.loadAnew(file);
    this.#kept.set(file, { loading: this.#testLoadings, tests });
    return tests;
  }

  /** The tests of a file from a loading of their own, which is not remembered. */
  loadAnew(file: string): Promise<Tests> {
    return this.#load(file, undefined);
  }

  /** What of test/support is not loaded anew is shared with the loading of that number. */
  async #load(file: string, shared: number | undefined): Promise<Tests> {
    if (shared === undefined) this.#testLoadings += 1;
    beginFile(file);
    const loading = shared ?? this.#testLoadings;
    await import(`${this.#rootUrl}${file}?at=${this.#versions.of(file)}&tests=${loading}`);
    return collectedTests();
  }

  /** Runs one test, for `boundMs` at most if it waits. */
  async run(test: CollectedTest, boundMs: number): Promise<TestOutcome> {
    const startMs = performance.now();
    const givenUp = Promise.withResolvers<never>();
    const patience = new Patience({
      boundMs,
      giveUp: (reason) => {
        givenUp.reject(new Error(reason));
      },
      pending: () => process.getActiveResourcesInfo().length,
    });
    let failure: string | undefined;
    try {
      await Promise.race([test.run(), givenUp.promise]);
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      patience.end();
    }
    return { failure, isOver: !patience.isLost, durationMs: performance.now() - startMs };
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
    const file = url.slice(this.#rootUrl.length);
    this.#versions.noteLoads(parent.slice(this.#rootUrl.length).replace(/\?.*$/, ''), file);
    const at = `at=${this.#versions.of(file, Number(searchParams.get('at') ?? 0))}`;
    const isTest = file.startsWith('test/');
    return isTest ? `${at}&tests=${searchParams.get('tests') ?? 0}` : at;
  }
}
