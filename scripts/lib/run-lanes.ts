/**
 * Runs lanes of test files one after the other, each as one `node --test`, and adds up what they counted.
 *
 * Every lane runs although one before it failed: who waits for a suite wants all its failures. A signal goes to the lane that
 * runs, which ends its test processes, and no other lane begins. It judges nothing: `scripts/test.ts` does.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Lane } from './lanes.ts';
import type { TestCounts } from './test-count-reporter.ts';

/** What came of a run; without counts it was ended from outside. */
export interface LanesResult {
  /** The first exit code of `node --test` that is not 0. */
  readonly exitCode: number;
  readonly counts: TestCounts | undefined;
}

/** Runs the lanes from the root of the repository; `flags` go to `node --test` as they are. */
export async function runLanes(
  root: string,
  lanes: readonly Lane[],
  flags: readonly string[],
): Promise<LanesResult> {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-test-'));
  let total: TestCounts | undefined;
  let exitCode = 0;
  try {
    for (const [index, lane] of lanes.entries()) {
      const countsFile = path.join(directory, `counts-${index}.json`);
      const ended = await runNode(root, [
        ...parametersOf(root, lane, countsFile),
        ...flags,
        ...lane.files,
      ]);
      const counts = readCounts(countsFile);
      if (exitCode === 0) exitCode = ended.exitCode;
      if (ended.isInterrupted || counts === undefined) return { exitCode, counts: undefined };
      total = total === undefined ? counts : addCounts(total, counts);
    }
    return { exitCode, counts: total };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function parametersOf(root: string, lane: Lane, countsFile: string): readonly string[] {
  const urlOf = (name: string): string => pathToFileURL(path.join(root, 'scripts/lib', name)).href;
  return [
    `--import=${urlOf('untracked-promises.ts')}`,
    '--test',
    `--test-concurrency=${lane.atOnceMax}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${urlOf('test-count-reporter.ts')}`,
    `--test-reporter-destination=${countsFile}`,
  ];
}

/** Runs the files and resolves to node's exit code; Ctrl-C is left to node, which then ends the test processes. */
function runNode(
  root: string,
  parameters: readonly string[],
): Promise<{ readonly exitCode: number; readonly isInterrupted: boolean }> {
  const child = spawn(process.execPath, parameters, { cwd: root, stdio: 'inherit' });
  let isInterrupted = false;
  const handOn = (signal: NodeJS.Signals): void => {
    isInterrupted = true;
    child.kill(signal);
  };
  process.on('SIGINT', handOn).on('SIGTERM', handOn);
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      resolve(code ?? 1);
    });
  })
    .then((exitCode) => ({ exitCode, isInterrupted }))
    .finally(() => {
      process.off('SIGINT', handOn).off('SIGTERM', handOn);
    });
}

function readCounts(countsFile: string): TestCounts | undefined {
  if (!existsSync(countsFile)) return undefined;
  const text = readFileSync(countsFile, 'utf8');
  return text === '' ? undefined : (JSON.parse(text) as TestCounts);
}

function addCounts(one: TestCounts, other: TestCounts): TestCounts {
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped: one.skipped + other.skipped,
    failures: [...one.failures, ...other.failures],
    filesWithoutTests: [...one.filesWithoutTests, ...other.filesWithoutTests],
    durations: [...one.durations, ...other.durations],
  };
}
