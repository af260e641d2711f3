/**
 * `node scripts/launch.mjs scripts/record-terminal.ts` draws docs/bad-release.svg anew: a bad release over three local clusters,
 * its halt in the first of them, and the way back. It takes two minutes.
 *
 * The commands are run, in one terminal and in a second one, and the picture holds what they print. What is left out stands as `…`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderTerminal } from './lib/terminal-svg.ts';
import { repositoryRoot, runTool } from './lib/run-tool.ts';

const FILE = 'docs/bad-release.svg';
const START = ['--clusters', '3', '--fleet', '--inject', 'bad-image'];
const FLEET = 'node-agents/fleet-agent';
/** In the second terminal. `until`: lines from here on are left out. */
const COMMANDS: readonly { readonly words: string; readonly until?: RegExp }[] = [
  { words: `fleet status ${FLEET} -o wide` },
  { words: `fleet undo ${FLEET} --watch`, until: /^node-agents/ },
  { words: 'status' },
];
const HALT_BOUND_MS = 300_000;

/** Resolves to what was printed, once the fleet is halted. */
async function untilHalted(engine: ChildProcess): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    engine.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (/fleet: \S+ halted: /.test(text)) resolve(text);
    });
    engine.once('exit', (code) => {
      reject(new Error(`npm start left with ${String(code)}:\n${text}`));
    });
    AbortSignal.timeout(HALT_BOUND_MS).addEventListener('abort', () => {
      reject(new Error(`nothing was halted in time:\n${text}`));
    });
  });
}

function prompt(command: string): string {
  return `\u001b[32m$\u001b[0m \u001b[1m${command}\u001b[0m`;
}

/** Of what the first terminal shows from the bad release on: what the fleet does, without its pods. */
function fromRelease(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const from = lines.findIndex((line) => line.includes('generation 2 is rolled out'));
  const shown = /^fleet: | WARN | was given a release/;
  return ['…', ...lines.slice(from).filter((line) => shown.test(line))];
}

async function runCommand(file: string, words: string): Promise<readonly string[]> {
  const { stdout } = await runTool({
    program: 'sh',
    parameters: ['-c', `. ${file} && rollcall ${words} --color always 2>&1`],
    directory: repositoryRoot,
  });
  return stdout.trimEnd().split('\n');
}

function shortened(lines: readonly string[], until: RegExp | undefined): readonly string[] {
  const end = until === undefined ? -1 : lines.findIndex((line) => until.test(line));
  return end < 0 ? lines : [...lines.slice(0, end), '…'];
}

const main = path.join(repositoryRoot, 'src/cli/main.ts');
const engine = spawn(process.execPath, [main, ...START], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const text = await untilHalted(engine);
  const file = /\. (\S+rollcall\.env)/.exec(text)?.[1] ?? '';
  const lines = [prompt(`npm start -- ${START.join(' ')}`), ...fromRelease(text)];
  for (const { words, until } of COMMANDS) {
    const printed = shortened(await runCommand(file, words), until);
    lines.push('', prompt(`rollcall ${words}`), ...printed);
  }
  const title = 'A bad release halts in its first cluster, and is undone';
  writeFileSync(path.join(repositoryRoot, FILE), renderTerminal(title, lines));
  process.stdout.write(`${FILE} is written\n`);
} finally {
  engine.kill('SIGTERM');
  if (engine.exitCode === null) await once(engine, 'exit');
}
