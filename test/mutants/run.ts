/**
 * Plays the table of planted bugs: npm run test:mutants -- [NAME…] [--tenth N]
 *
 * Each bug in a copy of the repository, two at once; a named test has to fail (docs/testing.md, "Planted bugs"). Exit code:
 * 0 all killed, 1 one survived, 2 wrong usage, 130 ended from outside. Nothing of the copies is left, however it ends.
 */
import { mkdtempSync, constants, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startReaper } from '../../scripts/lib/reaper.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import type { Judgement } from './judge-run.ts';
import { killerOf, type PlantedBug } from './planted-bug.ts';
import { PLANTED_BUGS } from './table.ts';
import { tryBug, type Trial } from './try-bug.ts';
import { parseArgs, promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { copyFile, lstat, mkdir, readlink, symlink } from 'node:fs/promises';
import { linkModules } from '../../scripts/lib/link-modules.ts';

const run = promisify(execFile);
const LIST_BYTES_MAX = 64 * 1024 * 1024;

async function filesOf(root: string): Promise<readonly string[]> {
  const { stdout } = await run(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: root, maxBuffer: LIST_BYTES_MAX },
  );
  const files = stdout.split('\0').filter((file) => file !== '' && file !== 'node_modules');
  return files.filter((file) => existsSync(path.join(root, file)));
}

async function copyOne(from: string, to: string): Promise<void> {
  await mkdir(path.dirname(to), { recursive: true });
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
  else await copyFile(from, to, constants.COPYFILE_FICLONE);
}

/** Copies the repository at `root` to the directory `to`, which is made. */
async function copyRepository(root: string, to: string): Promise<void> {
  for (const file of await filesOf(root)) {
    await copyOne(path.join(root, file), path.join(to, file));
  }
  linkModules(root, to);
}

/** The command line asked for what does not exist. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Names of rows, in the order of the table or of the command line, and which tenth of them it is, if it is one. */
interface ChosenRows {
  readonly names: readonly string[];
  readonly tenth: number | undefined;
}

const PARTS = 10;

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: { tenth: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Which rows the parameters of the command line ask for. */
function chooseRows(parameters: readonly string[], table: readonly string[]): ChosenRows | 'help' {
  if (parameters.includes('--help')) return 'help';
  const { values, positionals } = parse(parameters);
  const unknown = positionals.filter((name) => !table.includes(name));
  if (unknown.length > 0) throw new UsageError(`there is no row ${unknown.join(', ')}`);
  if (values.tenth === undefined) {
    return { names: positionals.length > 0 ? positionals : table, tenth: undefined };
  }
  if (positionals.length > 0) throw new UsageError('either names or --tenth');
  if (!/^\d{1,15}$/.test(values.tenth)) throw new UsageError('--tenth wants a whole number');
  const tenth = Number(values.tenth) % PARTS;
  const quick = table.filter((name) => !isOfBrowser(name));
  return { names: quick.filter((_name, index) => index % PARTS === tenth), tenth };
}

/** Its test starts a stack and a browser: two minutes for one row. The night plays them. */
function isOfBrowser(name: string): boolean {
  const bug = PLANTED_BUGS[name];
  return bug !== undefined && killerOf(bug).file.startsWith('test/browser/');
}

const USAGE = `Usage: npm run test:mutants -- [NAME…] [--tenth N]

  (none)      every row of test/mutants/table.ts
  NAME…       these rows
  --tenth N   the rows whose place in the table, modulo ten, is that of N; without those that a browser kills

Exit code: 0 all killed, 1 one survived, 2 wrong usage, 130 ended from outside.
`;

const AT_ONCE = 2;
const TIMEOUT_MS = 300_000;
/** Tests of these directories start clusters. */
const SLOW_TIMEOUT_MS = 1_800_000;
const SLOW = /^test\/(?:browser|conformance|deploy)\/|\.nightly\.test\.ts$/;

async function judge(bug: PlantedBug, trial: Omit<Trial, 'timeoutMs'>): Promise<Judgement> {
  const timeoutMs = SLOW.test(killerOf(bug).file) ? SLOW_TIMEOUT_MS : TIMEOUT_MS;
  try {
    return await tryBug(bug, { ...trial, timeoutMs });
  } catch (error) {
    return { kind: 'survived', why: error instanceof Error ? error.message : String(error) };
  }
}

interface Workshop {
  readonly directory: string;
  readonly signal: AbortSignal;
  readonly onGroup: NonNullable<Trial['onGroup']>;
}

/** Plays rows one after the other in a copy of its own; gives the names of those that survived. */
async function work(
  waiting: string[],
  index: number,
  { directory, signal, onGroup }: Workshop,
): Promise<readonly string[]> {
  const survivors: string[] = [];
  const copy = path.join(directory, String(index), 'repository');
  if (waiting.length > 0) await copyRepository(repositoryRoot, copy);
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const bug = PLANTED_BUGS[name];
    if (bug === undefined) throw new Error(`no row ${name}`);
    const startedAt = performance.now();
    const judgement = await judge(bug, { directory: copy, signal, onGroup });
    if (signal.aborted) break;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const outcome = judgement.kind === 'killed' ? 'killed' : `SURVIVED: ${judgement.why}`;
    process.stdout.write(`${name}: ${outcome} (${seconds} s)\n`);
    if (judgement.kind === 'survived') survivors.push(name);
  }
  return survivors;
}

async function play({ names, tenth }: ChosenRows): Promise<number> {
  const startedAt = performance.now();
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-mutants-'));
  const reaper = startReaper({ temporaryDirectory: directory });
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      ending.abort();
    });
  }
  if (tenth !== undefined) process.stdout.write(`tenth ${tenth}: ${names.length} rows\n`);
  const waiting = [...names];
  const workshop: Workshop = {
    directory,
    signal: ending.signal,
    // A negative number names the group: the reaper ends it even if this process is killed.
    onGroup: ({ pid, isAlive }) => {
      if (isAlive) reaper.add(-pid);
      else reaper.remove(-pid);
    },
  };
  try {
    const places = Array.from({ length: Math.min(AT_ONCE, names.length) }, (_, index) => index);
    const survivors = (
      await Promise.all(places.map((index) => work(waiting, index, workshop)))
    ).flat();
    if (ending.signal.aborted) return 130;
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    const killed = names.length - survivors.length;
    const left = survivors.length === 0 ? '' : `; SURVIVED: ${survivors.join(', ')}`;
    process.stdout.write(`${killed} of ${names.length} killed in ${seconds} s${left}\n`);
    return survivors.length === 0 ? 0 : 1;
  } finally {
    await reaper.close();
  }
}

try {
  const chosen = chooseRows(process.argv.slice(2), Object.keys(PLANTED_BUGS));
  if (chosen === 'help') process.stdout.write(USAGE);
  else process.exitCode = await play(chosen);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
