/** The test runner's own canaries: it must not be green when nothing was tested. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

const runner = path.resolve(import.meta.dirname, '../../../scripts/test.ts');
const passing = "import { it } from 'node:test';\nit('passes', () => undefined);\n";
const failing = "import { it } from 'node:test';\nit('fails', () => { throw new Error('no'); });\n";
const skipping = "import { it } from 'node:test';\nit('needs a tool', { skip: 'none' });\n";

describe('scripts/test.ts', () => {
  let directory = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-runner-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const run = (
    texts: readonly string[],
    words: readonly string[] = [],
  ): { exitCode: number | null; output: string } => {
    const files = texts.map((text, index) => {
      const file = path.join(directory, `${index}.test.ts`);
      writeFileSync(file, text);
      return file;
    });
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const result = spawnSync(process.execPath, [runner, ...words, ...files], {
      encoding: 'utf8',
      env,
    });
    return { exitCode: result.status, output: result.stdout + result.stderr };
  };

  it('passes when a test passed, and prints the counts last', () => {
    const { exitCode, output } = run([passing]);
    assert.equal(exitCode, 0, output);
    assert.match(output, /# tests 1\n# pass 1\n# fail 0\n# skipped 0\n$/);
  });

  it('fails when a test failed', () => {
    const { exitCode, output } = run([passing, failing]);
    assert.notEqual(exitCode, 0);
    assert.match(output, /# FAILED \S+1\.test\.ts: fails\n# tests 2\n# pass 1\n# fail 1\n/);
  });

  it('fails when there are no files', () => {
    const { exitCode, output } = run([]);
    assert.equal(exitCode, 1);
    assert.match(output, /no test files/);
  });

  it('runs nothing for a word that it does not know, and says which', () => {
    const { exitCode, output } = run([passing], ['unit', 'test/unit/core', '--test-only']);
    assert.equal(exitCode, 2);
    assert.match(output, /neither a tier nor a test file: test\/unit\/core\n/);
    assert.doesNotMatch(output, /# tests/);
  });

  it('fails when files hold no test, alone or beside one that does', () => {
    const alone = run(['export {};\n']);
    assert.equal(alone.exitCode, 1);
    assert.match(alone.output, /no test ran/);
    const beside = run([passing, 'export {};\n']);
    assert.equal(beside.exitCode, 1);
    assert.match(beside.output, /files without a test: .*1\.test\.ts/);
  });

  it('accepts tests that say that they skip', () => {
    const { exitCode, output } = run([skipping]);
    assert.equal(exitCode, 0, output);
    assert.match(output, /# skipped 1\n$/);
  });
});
