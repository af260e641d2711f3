/**
 * A reporter for node:test that counts tests and times their files, as one JSON document at the end.
 *
 * It exists because node:test is content when nothing ran: a file without a test counts as one passed test there.
 * Here suites and file entries are no tests; a skipped test is one, since it says itself that it was skipped.
 * It judges nothing: `scripts/test.ts` does.
 */
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/**
 * How many tests ended how; `filesWithoutTests` are paths; `durations` is wall time per file, in no order; `failures`
 * name file and title.
 */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly string[];
  readonly filesWithoutTests: readonly string[];
  readonly durations: readonly { readonly file: string; readonly durationMs: number }[];
}

/** A test or suite that ended, or the entry of a whole file. */
interface Ended {
  readonly name: string;
  readonly file?: string | undefined;
  readonly nesting: number;
  readonly skip?: string | boolean | undefined;
  readonly details: { readonly duration_ms: number; readonly type?: string | undefined };
}

function isFileEntry(data: { name: string; file?: string | undefined }): boolean {
  return data.file === undefined || path.resolve(data.name) === data.file;
}

function nameOf({ name, file }: { name: string; file?: string | undefined }): string {
  return file === undefined ? name : `${path.relative('.', file)}: ${name}`;
}

/** The tests that failed, and the files that failed by themselves: one that cannot be loaded, an uncaught error. */
function listFailures(tests: readonly string[], files: ReadonlySet<string>): readonly string[] {
  const names = [...files].map((file) => path.relative('.', file));
  return [...tests, ...names.filter((name) => !tests.some((test) => test.startsWith(`${name}: `)))];
}

/** How node:test reports an uncaught error where files share a process: no file fails with it. */
const LATE_ERROR = /generated asynchronous activity after the test ended/;

/** What a run came to so far. */
class Tally {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #failedTests: string[] = [];
  readonly #failedFiles = new Set<string>();
  readonly #files = new Set<string>();
  readonly #filesWithTests = new Set<string>();
  readonly #durations: { file: string; durationMs: number }[] = [];
  readonly #ofTestsMs = new Map<string, number>();

  add(event: TestEvent): void {
    if (event.type === 'test:summary') this.#addFile(event.data.file, event.data.duration_ms);
    else if (event.type === 'test:diagnostic') this.#addDiagnostic(event.data.message);
    else if (event.type === 'test:pass') this.#addEnded(event.data, 'passed');
    else if (event.type === 'test:fail') this.#addEnded(event.data, 'failed');
  }

  counts(): TestCounts {
    // Where files share a process, none of them ends: what its tests took is what it took.
    const ofTests = [...this.#ofTestsMs].map(([file, durationMs]) => ({ file, durationMs }));
    return {
      ...this.#counts,
      failures: listFailures(this.#failedTests, this.#failedFiles),
      filesWithoutTests: [...this.#files].filter((file) => !this.#filesWithTests.has(file)),
      durations: this.#durations.length > 0 ? this.#durations : ofTests,
    };
  }

  #addFile(file: string | undefined, durationMs: number): void {
    if (file !== undefined) this.#durations.push({ file, durationMs });
  }

  #addDiagnostic(message: string): void {
    if (LATE_ERROR.test(message)) this.#failedTests.push(message);
  }

  #addEnded(ended: Ended, outcome: 'passed' | 'failed'): void {
    const { file, nesting, details } = ended;
    if (nesting === 0 && file !== undefined) {
      this.#ofTestsMs.set(file, (this.#ofTestsMs.get(file) ?? 0) + details.duration_ms);
    }
    if (details.type === 'suite') return;
    if (isFileEntry(ended)) {
      this.#files.add(path.resolve(ended.name));
      if (outcome === 'failed') this.#failedFiles.add(path.resolve(ended.name));
      return;
    }
    if (file !== undefined) this.#filesWithTests.add(file);
    this.#counts[ended.skip === undefined ? outcome : 'skipped'] += 1;
    if (outcome === 'failed' && ended.skip === undefined) this.#failedTests.push(nameOf(ended));
  }
}

/** Consumes the events of one run and yields the counts. */
// eslint-disable-next-line no-restricted-syntax -- node:test takes a reporter from a module's default export
export default async function* countTests(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const tally = new Tally();
  for await (const event of source) tally.add(event);
  yield JSON.stringify(tally.counts());
}
