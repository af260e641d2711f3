/**
 * The table of planted bugs still finds what it changes and the tests that it names, and its program refuses the rest.
 *
 * That each bug is killed is for `npm run test:mutants` to say.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { titlesIn } from '../../../scripts/testing/test-titles.ts';
import { killerOf } from '../../mutants/planted-bug.ts';
import { AREAS, PLANTED_BUGS } from '../../mutants/table.ts';
import { fileOf, mutate } from '../../support/mutants.ts';

const IMPORT = /\bfrom '(\.[^']+)'/g;

/** A title that is a variable: it stands in a row of a table. */
const TITLE_IN_A_ROW = /\b(?:it|test)\([a-z]\w*,/;

function read(file: string): string {
  return readFileSync(path.join(repositoryRoot, file), 'utf8');
}

/** Whether a test of the file can have a title with the text: a composed one takes it from a table that the file imports. */
function hasTitle(file: string, title: string): boolean {
  const text = read(file);
  const titles = titlesIn(text);
  if (titles.some((one) => one.includes(title))) return true;
  const isComposed = titles.some((one) => one.includes('${')) || TITLE_IN_A_ROW.test(text);
  if (!isComposed) return false;
  const imported = [...text.matchAll(IMPORT)].map(([, name = '']) =>
    path.join(path.dirname(file), name),
  );
  return [text, ...imported.map(read)].some((one) => one.includes(title));
}

describe('a planted bug', () => {
  for (const [name, bug] of Object.entries(PLANTED_BUGS)) {
    it(`(${name}) finds its place once, and names a test that exists`, () => {
      assert.match(name, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      const source = read(fileOf(bug));
      assert.notEqual(mutate(source, bug), source);
      const { file, title } = killerOf(bug);
      assert.match(file, /^(packages\/[\w-]+\/)?test\/.*\.test\.ts$/);
      assert.ok(existsSync(path.join(repositoryRoot, file)), file);
      assert.ok(hasTitle(file, title), `${file} has no title with: ${title}`);
    });
  }

  it('has a name of its own', () => {
    const count = AREAS.reduce((sum, area) => sum + Object.keys(area).length, 0);
    assert.equal(Object.keys(PLANTED_BUGS).length, count);
  });
});

describe('the program of planted bugs', () => {
  const run = (parameters: readonly string[]) => {
    const { status, stderr } = spawnSync(
      process.execPath,
      [path.join(repositoryRoot, 'test/mutants/run.ts'), ...parameters],
      { encoding: 'utf8' },
    );
    return { status, stderr };
  };

  it('ends with code 2 for a name that is not in the table', () => {
    const { status, stderr } = run(['no-such-row']);
    assert.equal(status, 2);
    assert.match(stderr, /there is no row no-such-row/);
  });

  it('ends with code 2 for an option that it does not know', () => {
    assert.equal(run(['--all']).status, 2);
  });
});
