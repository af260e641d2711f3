/**
 * Runs the test files of the named tiers: `scripts/test.ts <tier…> [file…] [node --test flags…]`.
 *
 * A tier is a directory of test/, or `nightly` (testing/tier-files.ts). Files, if any are given, replace those of the tiers;
 * flags go to `node --test` as they are (write values with `=`). Exit code 2 for any other word. Fails when no test ran, or when a file holds none: a suite that silently stopped
 * finding its tests must not be green. It needs npm alone; suites that need more ask for it themselves.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { lanesOf } from './testing/lanes.ts';
import { runLanes } from './testing/run-lanes.ts';
import type { TestCounts } from './testing/test-count-reporter.ts';
import { NIGHTLY, tierFiles } from './testing/tier-files.ts';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const tiers = new Set([
  'unit',
  'property',
  'simulation',
  'integration',
  'regression',
  'conformance',
  'deploy',
  'browser',
  'security',
  NIGHTLY,
]);

/** Slow tiers start clusters and containers: few files at a time (testing/lanes.ts), and half an hour for each. */
const slowTiers = new Set(['conformance', 'deploy', 'browser', NIGHTLY]);
/** Ends what hangs: the longest test takes some twenty seconds, and a busy machine must not look like a bug. */
const TEST_TIMEOUT_MS = 600_000;
const SLOW_TEST_TIMEOUT_MS = 1_800_000;

/** How many of the slowest files are named at the end, and from which time on. */
const SLOWEST_FILES_MAX = 20;
const SLOW_FILE_MS = 5_000;

interface Request {
  readonly tiers: readonly string[];
  readonly files: readonly string[];
  readonly flags: readonly string[];
  /** Words that are none of these: a mistyped tier, a directory, a flag's value. */
  readonly strangers: readonly string[];
}

function parseRequest(parameters: readonly string[]): Request {
  const named = parameters.filter((parameter) => tiers.has(parameter));
  const files = parameters.filter((parameter) => parameter.endsWith('.ts'));
  const others = parameters.filter(
    (parameter) => !named.includes(parameter) && !files.includes(parameter),
  );
  const flags = others.filter((parameter) => parameter.startsWith('-'));
  const strangers = others.filter((parameter) => !parameter.startsWith('-'));
  return { tiers: named, files, flags, strangers };
}

function findFiles(request: Request): string[] {
  if (request.files.length > 0) return [...request.files];
  return request.tiers.flatMap((tier) => tierFiles(root, tier));
}

function isSlow(request: Request): boolean {
  return request.tiers.some((tier) => slowTiers.has(tier));
}

/** Says where the time went, so that a suite that grows is seen before it no longer fits. */
function printSlowest({ durations }: TestCounts): void {
  const slow = durations
    .filter(({ durationMs }) => durationMs >= SLOW_FILE_MS)
    .toSorted((left, right) => right.durationMs - left.durationMs);
  for (const { file, durationMs } of slow.slice(0, SLOWEST_FILES_MAX)) {
    console.log(`# ${(durationMs / 1000).toFixed(0).padStart(4)} s  ${path.relative(root, file)}`);
  }
}

/** Prints the closing lines and says whether tests were really run. */
function judgeCounts(counts: TestCounts | undefined, isFiltered: boolean): boolean {
  if (counts === undefined) {
    console.error('rollcall: the test run left no counts: it was ended from outside');
    return false;
  }
  const { passed, failed, skipped } = counts;
  printSlowest(counts);
  for (const failure of counts.failures) console.log(`# FAILED ${failure}`);
  console.log(`# tests ${passed + failed + skipped}`);
  console.log(`# pass ${passed}`);
  console.log(`# fail ${failed}`);
  console.log(`# skipped ${skipped}`);
  if (passed + failed + skipped === 0) {
    console.error('rollcall: no test ran');
    return false;
  }
  if (isFiltered || counts.filesWithoutTests.length === 0) return true;
  console.error(`rollcall: files without a test: ${counts.filesWithoutTests.join(', ')}`);
  return false;
}

async function main(): Promise<void> {
  const request = parseRequest(process.argv.slice(2));
  if (request.strangers.length > 0) {
    const known = [...tiers].join(', ');
    console.error(`rollcall: neither a tier nor a test file: ${request.strangers.join(', ')}`);
    console.error(`Tiers are ${known}; name files one by one, values of flags with "=".`);
    process.exitCode = 2;
    return;
  }
  const files = findFiles(request);
  if (files.length === 0) {
    console.error(`rollcall: no test files in test/{${request.tiers.join(',')}}`);
    process.exitCode = 1;
    return;
  }
  const lanes = lanesOf(files, {
    isSlow: isSlow(request),
    processorsCount: availableParallelism(),
  });
  const { exitCode, counts } = await runLanes(root, lanes, [
    `--test-timeout=${isSlow(request) ? SLOW_TEST_TIMEOUT_MS : TEST_TIMEOUT_MS}`,
    ...request.flags,
  ]);
  const isFiltered = request.flags.some((flag) => /^--test-(name|skip)-pattern/.test(flag));
  const isRun = judgeCounts(counts, isFiltered);
  process.exitCode = exitCode === 0 && !isRun ? 1 : exitCode;
}

await main();
