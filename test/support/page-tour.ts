/**
 * A tour of a page of docs/, run as it stands there: `npm start` in one terminal, the other commands in a second one.
 *
 * The page is read, not copied: whoever changes a command changes what is run. What each has to come to is said by the test, one entry
 * for each line that a person would look at.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = new URL('../../', import.meta.url).pathname;
/** A watched rollout takes soaks of seconds; a busy machine, several times that. */
const COMMAND_BOUND_MS = 240_000;
const READY_BOUND_MS = 300_000;

/** What a command of the page leaves with and prints. */
export interface ExpectedCommand {
  readonly command: RegExp;
  readonly code: number;
  readonly prints: RegExp;
}

/** A tour, and what it has to come to. */
export interface PageTour {
  /** Under docs/. */
  readonly page: string;
  /** Heading of the second level, with at least one behind it. */
  readonly section: string;
  /** Of `npm start`, before the second terminal begins. */
  readonly ready: RegExp;
  readonly expected: readonly ExpectedCommand[];
  /** Options of `npm start` that a test needs besides. */
  readonly options?: readonly string[];
  /** For the second terminal, besides this process's own. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs it. Rejects where a command leaves with another code, or prints something else. */
export async function runPageTour(tour: PageTour): Promise<void> {
  const { expected, environment, options = [] } = tour;
  const [start = '', ...commands] = await commandsOfPage(tour);
  assert.ok(start.startsWith('npm start'), start);
  assert.equal(commands.length, expected.length, commands.join('\n'));
  const asked = start.split(/ +/).slice(3);
  const main = path.join(ROOT, 'src/cli/main.ts');
  const engine = spawn(process.execPath, [main, ...options, ...asked], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const file = await startedAt(engine, tour.ready);
    for (const [index, { command: pattern, code, prints }] of expected.entries()) {
      const command = commands[index] ?? '';
      assert.match(command, pattern);
      const ended = await shell(`. ${file} && ${command}`, { ...process.env, ...environment });
      assert.equal(ended.code, code, `${command}\n${ended.output}`);
      assert.match(ended.output, prints, command);
    }
  } finally {
    engine.kill('SIGTERM');
    if (engine.exitCode === null) await once(engine, 'exit');
  }
}

async function commandsOfPage({
  page,
  section,
}: Pick<PageTour, 'page' | 'section'>): Promise<readonly string[]> {
  const text = await readFile(path.join(ROOT, 'docs', page), 'utf8');
  const [, found = ''] = new RegExp(`^## ${section}\n([^]*?)^## `, 'm').exec(text) ?? [];
  const blocks = [...found.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  return lines.filter((line) => line !== '' && !line.startsWith('. '));
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function shell(line: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn('sh', ['-c', line], { cwd: ROOT, env });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => parts.push(chunk));
  }
  const bound = AbortSignal.timeout(COMMAND_BOUND_MS);
  bound.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: Buffer.concat(parts).toString('utf8') };
}

/** Resolves to the path of the file for the second terminal, once it is ready. */
async function startedAt(child: ChildProcess, isReady: RegExp): Promise<string> {
  let text = '';
  return new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const file = /\. (\S+rollcall\.env)/.exec(text)?.[1];
      if (file !== undefined && isReady.test(text)) resolve(file);
    });
    child.once('exit', (code) => {
      reject(new Error(`npm start left with ${String(code)}: ${text}`));
    });
    AbortSignal.timeout(READY_BOUND_MS).addEventListener('abort', () => {
      reject(new Error(`not ready in time: ${text}`));
    });
  });
}
