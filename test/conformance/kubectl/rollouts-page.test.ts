/**
 * docs/rollouts.md, "Ten minutes on a laptop": its commands as they stand there, with a real kubectl on what `npm start` starts.
 *
 * The page is read, not copied: whoever changes a command changes what is run here. What each has to come to is said below,
 * one entry for each line that a person would look at.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { repositoryPath } from '../scenarios/repository.ts';

/** A watched rollout takes a soak of 20 s; a busy machine, several times that. */
const COMMAND_BOUND_MS = 240_000;
const READY_BOUND_MS = 180_000;

/** What each command of the page that says something leaves with and prints. */
const EXPECTED: readonly {
  readonly command: RegExp;
  readonly code: number;
  readonly prints: RegExp;
}[] = [
  { command: /annotate daemonset/, code: 0, prints: /annotated/ },
  { command: /log-collector:2'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
  { command: /log-collector:3-simulate-oom-8s'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 5, prints: /Halted[^]*OOMKilled/ },
  { command: /get events/, code: 0, prints: /RolloutHalted[^]*OOMKilled/ },
  { command: /undo .* --watch/, code: 0, prints: /Returned/ },
  { command: /log-collector:4'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
];

async function commandsOfPage(): Promise<readonly string[]> {
  const page = await readFile(repositoryPath('docs/rollouts.md'), 'utf8');
  const section = /^## Ten minutes on a laptop\n([^]*?)^## /m.exec(page)?.[1] ?? '';
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line !== '');
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function shell(line: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn('sh', ['-c', line], { cwd: repositoryPath('.'), env });
  const parts: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => parts.push(chunk));
  }
  const bound = AbortSignal.timeout(COMMAND_BOUND_MS);
  bound.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: Buffer.concat(parts).toString('utf8') };
}

/** Resolves to the path of the file for the second terminal, once all has settled. */
async function startedAt(child: ChildProcess): Promise<string> {
  let text = '';
  const ready = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const file = /\. (\S+rollcall\.env)/.exec(text)?.[1];
      if (file !== undefined && /log-collector\s+9\s+9\s+9\s+9\s+9/.test(text)) resolve(file);
    });
    child.once('exit', (code) => {
      reject(new Error(`npm start left with ${String(code)}: ${text}`));
    });
    AbortSignal.timeout(READY_BOUND_MS).addEventListener('abort', () => {
      reject(new Error(`not settled in time: ${text}`));
    });
  });
  return ready;
}

describe(
  'docs/rollouts.md on a laptop',
  { skip: skipWithoutTools([TOOLS.go]), timeout: 900_000 },
  () => {
    it('does in ten minutes what it says', async () => {
      const [start = '', ...commands] = await commandsOfPage();
      assert.ok(start.startsWith('npm start --'), start);
      assert.equal(commands.length, EXPECTED.length, commands.join('\n'));
      const { kubectl } = await ensureBinaries();
      const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-page-'));
      const options = start.replace('npm start --', '').trim().split(' ');
      const main = repositoryPath('src/cli/main.ts');
      const engine = spawn(process.execPath, [main, '--data', directory, ...options], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const file = await startedAt(engine);
        const env = {
          ...process.env,
          PATH: `${path.dirname(kubectl)}:${process.env['PATH'] ?? ''}`,
        };
        for (const [index, expected] of EXPECTED.entries()) {
          const command = commands[index] ?? '';
          assert.match(command, expected.command);
          const ended = await shell(`. ${file} && ${command}`, env);
          assert.equal(ended.code, expected.code, `${command}\n${ended.output}`);
          assert.match(ended.output, expected.prints, command);
        }
      } finally {
        engine.kill('SIGTERM');
        if (engine.exitCode === null) await once(engine, 'exit');
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
);
