/** Survivors that nobody could commit. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { areaNamed } from '../../mutation/areas.ts';
import { CompilerJudge } from '../../mutation/compiler-judge.ts';

const FILE = `${process.cwd()}/packages/base/src/compare-text.ts`;

/** The place of a text that stands on one line of the file. */
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
