/** Files that share a process are judged as if each had its own: nothing that fails is lost among them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Lane, Part } from '../../../scripts/testing/lanes.ts';
import type { LanesResult } from '../../../scripts/testing/run-lanes.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const runner = pathToFileURL(path.join(root, 'scripts/testing/run-lanes.ts')).href;
const RESULT = '# result ';

const passing = "import { it } from 'node:test';\nit('passes', () => undefined);\n";
const failing = "import { it } from 'node:test';\nit('fails', () => { throw new Error('no'); });\n";
const straying = `import { it } from 'node:test';
it('is over before its work', () => { void Promise.resolve().then(() => { throw new Error('stray'); }); });
`;

describe('a lane whose files share processes', () => {
  let directory = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-lanes-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const run = (
    texts: readonly string[],
    isolation: Part['process'] = 'shared',
  ): { result: LanesResult; output: string } => {
    const files = texts.map((text, index) => {
      const file = path.join(directory, `${index}.test.ts`);
      writeFileSync(file, text);
      return file;
    });
    const lanes: readonly Lane[] = [
      [0, 1].map((turn) => ({
        files: files.filter((_file, index) => index % 2 === turn),
        atOnceMax: 1,
        process: isolation,
      })),
    ];
    const program = `import { runLanes } from '${runner}';
      const result = await runLanes(${JSON.stringify(root)}, ${JSON.stringify(lanes)}, []);
      console.log('${RESULT}' + JSON.stringify(result));`;
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', program],
      {
        encoding: 'utf8',
        env,
      },
    );
    const line = stdout.split('\n').find((text) => text.startsWith(RESULT));
    assert.ok(line !== undefined, stdout + stderr);
    return { result: JSON.parse(line.slice(RESULT.length)) as LanesResult, output: stdout };
  };

  it('counts and times every file, and prints each test', () => {
    const { result, output } = run([passing, passing, passing]);
    assert.equal(result.exitCode, 0, output);
    assert.equal(result.counts?.passed, 3);
    assert.equal(new Set(result.counts?.durations.map(({ file }) => file)).size, 3);
    assert.equal(output.match(/✔ passes/g)?.length, 3);
  });

  it('names a test that failed, with its file', () => {
    const { result, output } = run([passing, passing, failing]);
    assert.notEqual(result.exitCode, 0);
    assert.match(result.counts?.failures.join() ?? '', /2\.test\.ts: fails$/);
    assert.match(output, /Error: no/);
  });

  it('fails, and says why, when an error was caught by nobody', () => {
    const { result } = run([passing, passing, straying]);
    assert.notEqual(result.exitCode, 0);
    assert.match(result.counts?.failures.join() ?? '', /stray/);
    const apart = run([passing, passing, straying], 'own');
    assert.notEqual(apart.result.exitCode, 0);
    assert.match(apart.result.counts?.failures.join() ?? '', /2\.test\.ts$/);
    assert.match(apart.output, /Error: stray/);
  });

  it('names files that cannot be loaded or hold no test', () => {
    const { result } = run([passing, "import './nothing.ts';\n", 'export {};\n']);
    assert.notEqual(result.exitCode, 0);
    assert.match(result.counts?.failures.join() ?? '', /1\.test\.ts$/);
    assert.match(result.counts?.filesWithoutTests.join() ?? '', /2\.test\.ts/);
  });
});
