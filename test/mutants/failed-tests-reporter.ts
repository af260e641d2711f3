/**
 * A reporter for node:test that says how each test ended, as one JSON document: what `judge-run.ts` reads.
 *
 * Each test is named with the titles of the suites around it. Suites and entries for whole files are left out: a file that
 * cannot be loaded fails as such an entry and as no test. It judges nothing.
 */
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export interface EndedTest {
  /** From the outermost suite to the test itself. */
  readonly titles: readonly string[];
  /** `failed` by its own assertion or error; `ended` by a time-out, a hook or its parent. */
  readonly outcome: 'ended' | 'failed' | 'passed' | 'skipped';
  /** Code and message of what it failed with. */
  readonly reason: string;
}

type Report = Extract<TestEvent, { type: 'test:fail' | 'test:pass' }>;

/** What a test throws itself; any other kind of failure is something that happened to it. */
const OWN_FAILURES: ReadonlySet<unknown> = new Set(['subtestsFailed', 'testCodeFailure']);
/** The mutated file could not be read as a program: that is no test that noticed it. */
const LOAD_FAILURES: ReadonlySet<unknown> = new Set([
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function endedTest(titles: readonly string[], { type, data }: Report): EndedTest {
  if (data.skip !== undefined) return { titles, outcome: 'skipped', reason: '' };
  if (type === 'test:pass') return { titles, outcome: 'passed', reason: '' };
  const { error } = data.details;
  const cause = fieldOf(error, 'cause');
  const code = fieldOf(cause, 'code');
  const isOwn = OWN_FAILURES.has(fieldOf(error, 'failureType')) && !LOAD_FAILURES.has(code);
  const reason = [code, fieldOf(cause, 'message') ?? error.message]
    .filter((part) => typeof part === 'string')
    .join(' ');
  return { titles, outcome: isOwn ? 'failed' : 'ended', reason };
}

/** Consumes the events of one run and yields the tests that ended. */
// eslint-disable-next-line no-restricted-syntax -- node:test takes a reporter from a module's default export
export default async function* reportFailedTests(
  source: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const tests: EndedTest[] = [];
  const around: string[] = [];
  for await (const event of source) {
    if (event.type === 'test:start') {
      around.splice(event.data.nesting, Infinity, event.data.name);
    }
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    const { data } = event;
    if (data.details.type === 'suite') continue;
    if (data.file === undefined || path.resolve(data.name) === data.file) continue;
    tests.push(endedTest([...around.slice(0, data.nesting), data.name], event));
  }
  yield JSON.stringify(tests);
}
