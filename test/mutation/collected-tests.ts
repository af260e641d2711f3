/**
 * Stands in for node:test while mutants are tried: it collects the tests of a file instead of running them, so that
 * one process can run any of them again and again.
 *
 * Knows what the tests of the core use: describe, it and test with a title and a body. Anything else of node:test is
 * not exported, and a test file that imports it fails to load: better than a test that silently does not run.
 */

/** A test of one file; `id` is the same in every process and in every loading. */
export interface CollectedTest {
  readonly id: string;
  /** Path from the project's root, with forward slashes. */
  readonly file: string;
  readonly title: string;
  readonly run: () => unknown;
}

type Body = () => unknown;

let file = '';
let titles: readonly string[] = [];
let collected: CollectedTest[] = [];

/** Begins a file: forgets what was collected before. */
export function beginFile(path: string): void {
  file = path;
  titles = [];
  collected = [];
}

/** The tests of the file that was begun last, in order. */
export function collectedTests(): readonly CollectedTest[] {
  return collected;
}

/** A group of tests; its body runs at once, as node:test does it. */
export function describe(title: string, body: Body): void {
  const outer = titles;
  titles = [...outer, title];
  try {
    body();
  } finally {
    titles = outer;
  }
}

/** A test. Two of the same title in one group get different ids by their order. */
export function test(title: string, body: Body): void {
  const full = [...titles, title].join(' > ');
  const same = collected.filter((other) => other.title === full).length;
  const suffix = same === 0 ? '' : ` (${same + 1})`;
  collected.push({ id: `${file} > ${full}${suffix}`, file, title: full, run: body });
}

/** The other name of `test`. */
export function it(title: string, body: Body): void {
  test(title, body);
}
