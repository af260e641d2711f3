/**
 * Plants one bug in a copy of the repository, runs its test, and puts the file back as it was.
 *
 * The copy serves one bug at a time. The file is put back whatever happens; what the tests leave elsewhere in the copy stays.
 */
import { readFile, writeFile, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileOf, mutate } from '../support/mutants.ts';
import { judgeRun, type Judgement, type MutantRun } from './judge-run.ts';
import { killerOf, type PlantedBug } from './planted-bug.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { EndedTest } from './failed-tests-reporter.ts';

/** Which tests, and where. */
interface TestRun {
  /** Root of the copy. */
  readonly directory: string;
  readonly file: string;
  readonly title: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told of the process group, so that it can be ended even if this process is killed. */
  readonly onGroup?: (group: { readonly pid: number; readonly isAlive: boolean }) => void;
}

/** A hung test gets this part of the time, so that it is the one that says so. */
const OF_THE_TEST = 0.9;
const OUTPUT_LENGTH_MAX = 2_000;
const OWN_DIRECTORY = path.resolve(import.meta.dirname, '../..');

function nodeParameters({ file, title, timeoutMs }: TestRun, report: string): readonly string[] {
  const url = (name: string): string => pathToFileURL(path.join(OWN_DIRECTORY, name)).href;
  return [
    `--import=${url('scripts/testing/untracked-promises.ts')}`,
    '--test',
    '--test-concurrency=1',
    `--test-timeout=${Math.round(timeoutMs * OF_THE_TEST)}`,
    `--test-name-pattern=${RegExp.escape(title)}`,
    `--test-reporter=${url('test/mutants/failed-tests-reporter.ts')}`,
    `--test-reporter-destination=${report}`,
    file,
  ];
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // Nobody of the group is left, which is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Resolves when the run has ended, however it did; says whether it was given up for its time. */
async function untilEnded(child: ChildProcess, run: TestRun): Promise<'by itself' | 'time-out'> {
  let ended: 'by itself' | 'time-out' = 'by itself';
  const end = (): void => {
    endGroup(child);
  };
  const timer = setTimeout(() => {
    ended = 'time-out';
    end();
  }, run.timeoutMs);
  run.signal.addEventListener('abort', end);
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', () => {
        resolve();
      });
    });
  } finally {
    clearTimeout(timer);
    run.signal.removeEventListener('abort', end);
    end();
  }
  return ended;
}

/** Runs the tests and says how each ended. */
async function runTest(run: TestRun): Promise<MutantRun> {
  const temporary = path.join(run.directory, '..', 'tmp');
  const report = path.join(temporary, 'report.json');
  await mkdir(temporary, { recursive: true });
  const { NODE_TEST_CONTEXT: _ours, ...environment } = process.env;
  const child = spawn(process.execPath, nodeParameters(run, report), {
    cwd: run.directory,
    // What Node keeps of modules is kept beside the copy, for all its rows: it goes with the copy.
    env: {
      ...environment,
      // A copy has no history of its own.
      ROLLCALL_HISTORY: OWN_DIRECTORY,
      NODE_COMPILE_CACHE: path.join(run.directory, '..', 'compile'),
      TMPDIR: temporary,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-OUTPUT_LENGTH_MAX);
    });
  }
  const pid = child.pid ?? 0;
  run.onGroup?.({ pid, isAlive: true });
  try {
    const ended = await untilEnded(child, run);
    if (ended === 'time-out') return { kind: 'time-out', afterMs: run.timeoutMs };
    if (!existsSync(report)) return { kind: 'no-report', output };
    const text = await readFile(report, 'utf8');
    if (text === '') return { kind: 'no-report', output };
    return { kind: 'ended', tests: JSON.parse(text) as readonly EndedTest[] }; // our reporter wrote it
  } finally {
    run.onGroup?.({ pid, isAlive: false });
    await rm(temporary, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Where, for how long at most, and until when. */
export type Trial = Pick<TestRun, 'directory' | 'onGroup' | 'signal' | 'timeoutMs'>;

/** Says whether the test of a bug kills it. Throws when the bug cannot be planted. */
export async function tryBug(bug: PlantedBug, trial: Trial): Promise<Judgement> {
  const killer = killerOf(bug);
  const file = path.join(trial.directory, fileOf(bug));
  const source = await readFile(file, 'utf8');
  await writeFile(file, mutate(source, bug));
  try {
    return judgeRun(await runTest({ ...trial, ...killer }), killer.title);
  } finally {
    await writeFile(file, source);
  }
}
