/** The launcher hands arguments, signals and exit codes to the entry, and leaves stdout to it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

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

  it('says how it is used when it gets no entry', async () => {
    const child = spawn('node', [launcher], { stdio: 'ignore' });
    const [exitCode] = (await once(child, 'close')) as [number | null];
    assert.equal(exitCode, 2);
  });
});
