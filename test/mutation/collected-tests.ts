/**
 * Stands in for node:test while mutants are tried: it collects the tests of a file instead of running them, so that
 * one process can run any of them again and again.
 *
 * Knows describe, it and test with a title and a body, and hooks: as any test may run alone, and again, `before` runs
 * with the first one, and `after` when the process ends. Anything else of node:test is not exported, and a test file
 * that imports it fails to load: better than a test that silently does not run.
 */

/** A test of one file; `id` is the same in every process and in every loading. */
export interface CollectedTest {
  readonly id: string;
  /** Path from the project's root, with forward slashes. */
  readonly file: string;
  readonly title: string;
  readonly run: () => unknown;
}

type Body = (context: typeof CONTEXT) => unknown;

/** What a test may say of itself is not read. */
const CONTEXT = { diagnostic: (): void => undefined };

/** What runs around the tests of a suite; a suite begins with what is around it. */
interface Hooks {
  readonly before: Body[];
  readonly after: Body[];
}

let file = '';
let titles: readonly string[] = [];
let hooks: Hooks = { before: [], after: [] };
let collected: CollectedTest[] = [];
const atTheEnd: Body[] = [];

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
    body(CONTEXT);
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

export function beforeEach(body: Body): void {
  hooks.before.push(body);
}

/** A hook; what is made last is undone first. */
export function afterEach(body: Body): void {
  hooks.after.unshift(body);
}

export function before(body: Body): void {
  let begun: Promise<unknown> | undefined;
  hooks.before.push(() => (begun ??= Promise.resolve(body(CONTEXT))));
}

export function after(body: Body): void {
  if (atTheEnd.length === 0) process.once('exit', () => atTheEnd.forEach((one) => one(CONTEXT)));
  atTheEnd.push(body);
}

/** A body with the hooks of its suite around it, those included that the suite adds after it. */
function within(around: Hooks, body: Body): () => unknown {
  return async () => {
    try {
      for (const hook of around.before) await hook(CONTEXT);
      await body(CONTEXT);
    } finally {
      for (const hook of around.after) await hook(CONTEXT);
    }
  };
}

/** The other name of `test`. */
export function it(title: string, body: Body): void {
  test(title, body);
}
