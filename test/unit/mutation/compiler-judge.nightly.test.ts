/** Survivors that nobody could commit. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { areaNamed } from '../../mutation/areas.ts';
import { CompilerJudge } from '../../mutation/compiler-judge.ts';

const FILE = `${process.cwd()}/packages/base/src/compare-text.ts`;

function placeOf(text: string): {
  start: { line: number; column: number };
  end: { line: number; column: number };
} {
  const lines = readFileSync(FILE, 'utf8').split('\n');
  const index = lines.findIndex((line) => line.includes(text));
  const column = (lines[index] ?? '').indexOf(text) + 1;
  return {
    start: { line: index + 1, column },
    end: { line: index + 1, column: column + text.length },
  };
}

describe('the compiler as a judge of mutants', () => {
  const judge = new CompilerJudge('packages/base/src/tsconfig.json');
  const change = { file: FILE, location: placeOf('left < right') };

  it('refuses what has another type, and says why', () => {
    assert.match(judge.refusal({ ...change, replacement: 'left.nothing' }) ?? '', /nothing/);
  });

  it('accepts what only behaves differently', () => {
    assert.equal(judge.refusal({ ...change, replacement: 'left > right' }), undefined);
  });

  // The compiler blames the first file that reads a source beyond its root; in an area that moves with every import.
  it('accepts a file that reads a source of another project', (t) => {
    const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-judge-'));
    t.after(() => {
      rmSync(directory, { recursive: true });
    });
    const write = (name: string, text: string): string => {
      const file = path.join(directory, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    };
    const compilerOptions = { module: 'nodenext', allowImportingTsExtensions: true, noEmit: true };
    const project = { compilerOptions: { ...compilerOptions, types: [] }, files: ['reads.ts'] };
    const config = write('reader/tsconfig.json', JSON.stringify(project));
    write('read/value.ts', 'export const value = 1;\n');
    const text = "import { value } from '../read/value.ts';\nexport const doubled = value * 2;\n";
    const file = write('reader/reads.ts', text);

    const place = { line: 2, column: 32 };
    const location = { start: place, end: { ...place, column: 33 } };
    const judgeOfReader = new CompilerJudge(config);
    assert.equal(judgeOfReader.refusal({ file, location, replacement: '3' }), undefined);
    assert.match(judgeOfReader.refusal({ file, location, replacement: "''" }) ?? '', /arithmetic/);
  });

  it('accepts what it reads as it is, of each area: else it would refuse every survivor', () => {
    const start = { line: 1, column: 1 };
    const unchanged = { location: { start, end: start }, replacement: '' };
    const files = {
      watcher: 'src/watcher/project/membership.ts',
      ingest: 'src/app/ingest/ingest-batch.ts',
      reconcile: 'src/app/reconcile/confirm/confirm.ts',
    };
    for (const [area, file] of Object.entries(files)) {
      const judgeOfArea = new CompilerJudge(areaNamed(area).tsconfig);
      const change = { ...unchanged, file: `${process.cwd()}/${file}` };
      assert.equal(judgeOfArea.refusal(change), undefined, area);
    }
  });
});
