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

function isFileEntry(data: { name: string; file?: string | undefined }): boolean {
  return data.file === undefined || path.resolve(data.name) === data.file;
}

function nameOf({ name, file }: { name: string; file?: string | undefined }): string {
  return file === undefined ? name : `${path.relative('.', file)}: ${name}`;
}

/** The tests that failed, and the files that failed by themselves: one that cannot be loaded, an error that nobody caught. */
function listFailures(tests: readonly string[], files: ReadonlySet<string>): readonly string[] {
  const names = [...files].map((file) => path.relative('.', file));
  return [...tests, ...names.filter((name) => !tests.some((test) => test.startsWith(`${name}: `)))];
}

/** Consumes the events of one run and yields the counts. */
// eslint-disable-next-line no-restricted-syntax -- node:test takes a reporter from a module's default export
export default async function* countTests(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failedTests: string[] = [];
  const failedFiles = new Set<string>();
  const files = new Set<string>();
  const filesWithTests = new Set<string>();
  const durations: { file: string; durationMs: number }[] = [];
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file !== undefined) {
      durations.push({ file: event.data.file, durationMs: event.data.duration_ms });
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    if (event.data.details.type === 'suite') continue;
    if (isFileEntry(event.data)) {
      files.add(path.resolve(event.data.name));
      if (event.type === 'test:fail') failedFiles.add(path.resolve(event.data.name));
      continue;
    }
    if (event.data.file !== undefined) filesWithTests.add(event.data.file);
    if (event.data.skip !== undefined) counts.skipped += 1;
    else if (event.type === 'test:pass') counts.passed += 1;
    else {
      counts.failed += 1;
      failedTests.push(nameOf(event.data));
    }
  }
  const filesWithoutTests = [...files].filter((file) => !filesWithTests.has(file));
  yield JSON.stringify({
    ...counts,
    failures: listFailures(failedTests, failedFiles),
    filesWithoutTests,
    durations,
  } satisfies TestCounts);
}
