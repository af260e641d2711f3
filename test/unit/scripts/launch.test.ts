/** The launcher hands arguments, signals and exit codes to the entry, and leaves stdout to it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { nodeFlagsOf } from '../../../scripts/lib/node-flags.mjs';

const launcher = path.resolve(import.meta.dirname, '../../../scripts/launch.mjs');

const entryText = `
let count: number = 0;
process.on('SIGTERM', () => {
  count += 1;
  setTimeout(() => { console.log('signals', count); process.exit(7); }, 300);
});
setInterval(() => undefined, 1000);
console.log(JSON.stringify(process.argv.slice(2)), process.versions.node.split('.')[0]);
`;

describe('scripts/launch.mjs', () => {
  let directory = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-launch-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it('runs the entry on Node 24, passes a repeated signal once, and leaves with its exit code', async () => {
    const entry = path.join(directory, 'entry.mts');
    writeFileSync(entry, entryText);
    const child = spawn('node', [launcher, entry, '--flag', 'two words'], { stdio: 'pipe' });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    child.kill('SIGTERM');
    const [exitCode] = (await once(child, 'close')) as [number | null];
    assert.equal(output, '["--flag","two words"] 24\nsignals 1\n');
    assert.equal(exitCode, 7);
  });

  it('gives the engine of npm start its flags of Node (ADR 0010), and other entries none', async () => {
    const root = path.resolve(import.meta.dirname, '../../..');
    const show = path.join(directory, 'show.mjs');
    // What is launched ends before it loads anything.
    const text = `console.log('FLAGS', JSON.stringify(process.execArgv));
if (!process.argv[1].endsWith('launch.mjs')) process.exit();`;
    writeFileSync(show, text);
    const flagsOf = async (entry: string): Promise<unknown> => {
      const env = { ...process.env, NODE_OPTIONS: `--import ${show}` };
      const child = spawn('node', [launcher, entry, '--help'], { cwd: root, env, stdio: 'pipe' });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
      await once(child, 'close');
      // The launcher shows its own first.
      const shown = [...output.matchAll(/^FLAGS (.*)$/gm)].map(
        ([, flags]) => JSON.parse(flags ?? '') as unknown,
      );
      return shown.at(1);
    };
    assert.deepEqual(await flagsOf('src/cli/main.ts'), nodeFlagsOf('src/cli/main.ts'));
    assert.deepEqual(await flagsOf('src/cli/rollcall.ts'), []);
    assert.equal(nodeFlagsOf('src/cli/main.ts').length, 2);
  });

  it('says how it is used when it gets no entry', async () => {
    const child = spawn('node', [launcher], { stdio: 'ignore' });
    const [exitCode] = (await once(child, 'close')) as [number | null];
    assert.equal(exitCode, 2);
  });
});
