/**
 * Whether a run of the tests killed a planted bug: a test of the stated title failed, by itself.
 *
 * A time-out, a file that does not load and a title that no test has are not that: they say that nobody looked.
 */
import type { EndedTest } from './failed-tests-reporter.ts';

/** How a run ended: with a list of tests, or without one. */
export type MutantRun =
  | { readonly kind: 'ended'; readonly tests: readonly EndedTest[] }
  | { readonly kind: 'no-report'; readonly output: string }
  | { readonly kind: 'time-out'; readonly afterMs: number };

/** `killed`, or why not. */
export type Judgement =
  { readonly kind: 'killed' } | { readonly kind: 'survived'; readonly why: string };

/** Reasons are one line: the first of a message. */
const REASON_LENGTH_MAX = 200;

function survived(why: string): Judgement {
  const [line = ''] = why.trim().split('\n');
  return { kind: 'survived', why: line.slice(0, REASON_LENGTH_MAX) };
}

/** Judges one run by the text that a title has to contain. */
export function judgeRun(run: MutantRun, title: string): Judgement {
  if (run.kind === 'time-out') return survived(`time-out after ${run.afterMs / 1000} s`);
  if (run.kind === 'no-report') return survived(`the run left no report: ${run.output}`);
  const named = run.tests.filter(({ titles }) => titles.some((text) => text.includes(title)));
  if (named.some(({ outcome }) => outcome === 'failed')) return { kind: 'killed' };
  const ended = named.find(({ outcome }) => outcome === 'ended');
  if (ended !== undefined) return survived(`its test did not come to its end: ${ended.reason}`);
  const passed = named.filter(({ outcome }) => outcome === 'passed');
  if (passed.length > 0) return survived(`${passed.length} of its tests passed`);
  if (named.length > 0) return survived('its test was skipped');
  return survived('no test of that title ran: the file did not load, or has no such test');
}
