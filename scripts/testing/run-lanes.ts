/**
 * Runs lanes of test files one after the other, and adds up what they counted.
 *
 * A lane is some `node --test` side by side. The last of them prints as it goes, the others when they are over: two that print by turns
 * would be unreadable.
 * Every lane runs although one before it failed: who waits for a suite wants all its failures. A signal goes to the lane that
 * runs, which ends its test processes, and no other lane begins. It judges nothing: `scripts/test.ts` does.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Lane, Part } from './lanes.ts';
import type { TestCounts } from './test-count-reporter.ts';

/** What came of a run; without counts it was ended from outside. */
export interface LanesResult {
  /** The first exit code of `node --test` that is not 0. */
  readonly exitCode: number;
  readonly counts: TestCounts | undefined;
}

interface Ended {
  readonly exitCode: number;
  readonly isInterrupted: boolean;
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
      const countsFiles = lane.map((_part, at) => path.join(directory, `${index}-${at}.json`));
      const ended = await Promise.all(
        lane.map((part, at) =>
          runNode(root, {
            parameters: parametersOf(root, { part, countsFile: countsFiles[at] ?? '', flags }),
            printed: at === lane.length - 1 ? 'at-once' : 'when-over',
          }),
        ),
      );
      exitCode = [exitCode, ...ended.map((end) => end.exitCode)].find((code) => code !== 0) ?? 0;
      for (const countsFile of countsFiles) {
        const counts = readCounts(countsFile);
        if (counts === undefined) return { exitCode, counts };
        total = total === undefined ? counts : addCounts(total, counts);
      }
      if (ended.some(({ isInterrupted }) => isInterrupted)) return { exitCode, counts: undefined };
    }
    return { exitCode, counts: total };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function parametersOf(
  root: string,
  { part, countsFile, flags }: { part: Part; countsFile: string; flags: readonly string[] },
): readonly string[] {
  const pathOf = (name: string): string => path.join(root, 'scripts/testing', name);
  const preloaded = `--import=${pathToFileURL(pathOf('untracked-promises.ts')).href}`;
  if (part.process === 'shared') {
    return [preloaded, ...flags, pathOf('shared-process.ts'), countsFile, ...part.files];
  }
  return [
    preloaded,
    '--test',
    `--test-concurrency=${part.atOnceMax}`,
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    `--test-reporter=${pathToFileURL(pathOf('test-count-reporter.ts')).href}`,
    `--test-reporter-destination=${countsFile}`,
    ...flags,
    ...part.files,
  ];
}

/** Runs the files and resolves to node's exit code; Ctrl-C is left to node, which then ends the test processes. */
function runNode(
  root: string,
  how: { readonly parameters: readonly string[]; readonly printed: 'at-once' | 'when-over' },
): Promise<Ended> {
  const output = how.printed === 'at-once' ? 'inherit' : 'pipe';
  const child = spawn(process.execPath, [...how.parameters], {
    cwd: root,
    stdio: ['inherit', output, output],
  });
  const lines: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => lines.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => lines.push(chunk));
  let isInterrupted = false;
  const handOn = (signal: NodeJS.Signals): void => {
    isInterrupted = true;
    child.kill(signal);
  };
  process.on('SIGINT', handOn).on('SIGTERM', handOn);
  return new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code ?? 1);
    });
  })
    .then((exitCode) => ({ exitCode, isInterrupted }))
    .finally(() => {
      process.stdout.write(Buffer.concat(lines));
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
