/**
 * Stands in for node:test while mutants are tried: it collects the tests of a file instead of running them, so that
 * one process can run any of them again and again.
 *
 * Knows describe, it and test with a title and a body, and hooks: since any test may run alone, and again, those of a
 * suite run around each of its tests. Anything else of node:test is not exported, and a test file that imports it fails
 * to load: better than a test that silently does not run.
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

/** What runs around the tests of a suite; a suite begins with what is around it. */
interface Hooks {
  readonly before: Body[];
  readonly after: Body[];
}

let file = '';
let titles: readonly string[] = [];
let hooks: Hooks = { before: [], after: [] };
let collected: CollectedTest[] = [];

/** Begins a file: forgets what was collected before. */
export function beginFile(path: string): void {
  file = path;
  titles = [];
  hooks = { before: [], after: [] };
  collected = [];
}

/** The tests of the file that was begun last, in order. */
export function collectedTests(): readonly CollectedTest[] {
  return collected;
}

/** A group of tests; its body runs at once, as node:test does it. */
export function describe(title: string, body: Body): void {
  const [outer, around] = [titles, hooks];
  titles = [...outer, title];
  hooks = { before: [...around.before], after: [...around.after] };
  try {
    body();
  } finally {
    [titles, hooks] = [outer, around];
  }
}

/** A test. Two of the same title in one group get different ids by their order. */
export function test(title: string, body: Body): void {
  const full = [...titles, title].join(' > ');
  const same = collected.filter((other) => other.title === full).length;
  const suffix = same === 0 ? '' : ` (${same + 1})`;
  collected.push({ id: `${file} > ${full}${suffix}`, file, title: full, run: within(hooks, body) });
}

/** A hook; before a suite is before each of its tests. */
export function beforeEach(body: Body): void {
  hooks.before.push(body);
}

/** A hook; what is made last is undone first. */
export function afterEach(body: Body): void {
  hooks.after.unshift(body);
}

export { beforeEach as before, afterEach as after };

/** A body with the hooks of its suite around it, those included that the suite adds after it. */
function within(around: Hooks, body: Body): Body {
  const { before, after } = around;
  return async () => {
    try {
      for (const hook of before) await hook();
      await body();
    } finally {
      for (const hook of after) await hook();
    }
  };
}

/** The other name of `test`. */
export function it(title: string, body: Body): void {
  test(title, body);
}
