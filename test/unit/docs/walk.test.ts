/** docs/walk.md leads to files that exist, by few steps, and fits a screen (issue 42). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';

const LINES_MAX = 60;
const READ_MAX = 5;
const CHANGED_MAX = 3;
/** Of each ten tasks. */
const WITHIN_MIN = 8;

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const page = read('docs/walk.md');
const [walk = '', tasks = ''] = page.split('## To change something');

const rowsOf = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter(
      (line) => line.startsWith('| ') && !line.startsWith('| | ') && !line.startsWith('| what |'),
    )
    .map((line) => line.split('|').slice(1, -1));

const filesIn = (cell = ''): readonly string[] =>
  [...cell.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file);

/** True if one imports the other, or a comment of it names the other. */
function areTied(one: string, other: string): boolean {
  return read(one).includes(path.basename(other)) || read(other).includes(path.basename(one));
}

describe('docs/walk.md', () => {
  it('fits a screen', () => {
    assert.ok(page.split('\n').length <= LINES_MAX);
  });

  it('walks through files that exist', () => {
    const rows = rowsOf(walk);
    assert.ok(rows.length >= 8);
    for (const [, files] of rows) {
      assert.ok(filesIn(files).length > 0);
      for (const file of filesIn(files)) {
        const isWhole = file.startsWith('src/') || file.startsWith('functions/');
        const whole = isWhole ? file : `src/app/reconcile/${file}`;
        assert.ok(existsSync(path.join(repositoryRoot, whole)), whole);
      }
    }
  });

  for (const [what = '', cell, beside = ''] of rowsOf(tasks)) {
    it(`leads to what is changed for:${what}`, () => {
      const files = filesIn(cell).map((file) => `src/${file}`);
      for (const file of files) assert.ok(existsSync(path.join(repositoryRoot, file)), file);
      for (const file of files) {
        const others = files.filter((other) => other !== file);
        assert.ok(others.length === 0 || others.some((other) => areTied(file, other)), file);
      }
      for (const file of filesIn(beside)) {
        const isThere = [file, `src/${file}`].some((name) =>
          existsSync(path.join(repositoryRoot, name)),
        );
        assert.ok(isThere, file);
      }
    });
  }

  it('names at most five files to read and three to change, for eight tasks of ten', () => {
    const rows = rowsOf(tasks);
    const within = rows.filter(([, cell = '']) => {
      const changed = [...cell.matchAll(/\*\*/g)].length / 2;
      return filesIn(cell).length <= READ_MAX && changed <= CHANGED_MAX && changed > 0;
    });
    assert.ok(within.length >= (rows.length * WITHIN_MIN) / 10);
  });
});
