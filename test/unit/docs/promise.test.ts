// docs/promise.md maps every promise to tests that exist and say so, and every row and rule as scripts/promise.ts does.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { numbersNamed } from '../../../scripts/testing/test-titles.ts';
import { ROWS, RULES } from '../../../scripts/promise/catalogue.ts';
import { composeCatalogue, withCatalogue } from '../../../scripts/promise/compose-catalogue.ts';
import type { TestFile } from '../../../scripts/promise/compose-catalogue.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/promise.md'), 'utf8');
const AGAIN = 'node scripts/launch.mjs scripts/promise.ts';

/** Rows of the table of promises: a promise in the first cell, test files in the others. */
function promises(): readonly { readonly promise: string; readonly files: readonly string[] }[] {
  return page.split('\n').flatMap((line) => {
    const promise = /^\| \*\*([SLM]\d+)\*\* \|/.exec(line)?.[1];
    const files = line.match(/(?:packages\/[\w-]+\/)?test\/[\w./-]+\.test\.ts/g) ?? [];
    return promise === undefined ? [] : [{ promise, files }];
  });
}

function testFiles(): readonly TestFile[] {
  return globSync('{test,packages/*/test}/**/*.test.ts', { cwd: root }).map((name) => ({
    path: name.split(path.sep).join('/'),
    text: readFileSync(path.join(root, name), 'utf8'),
  }));
}

const numbers = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

test('every promise is mapped exactly once, to at least one test', () => {
  const expected = [
    // The fifteenth was withdrawn (ADR 0058); its number is not used again.
    ...[...numbers(1, 14), 16, 17, 18, 19, 20].map((number) => `S${number}`),
    ...numbers(1, 5).map((number) => `L${number}`),
    ...numbers(1, 4).map((number) => `M${number}`),
  ];
  assert.deepEqual(
    promises().map(({ promise }) => promise),
    expected,
  );
  const bare = promises().filter(({ files }) => files.length === 0);
  assert.deepEqual(bare, []);
});

test('every test that a promise names exists, and carries its number', () => {
  for (const { promise, files } of promises()) {
    for (const file of files) {
      assert.ok(existsSync(path.join(root, file)), `${promise}: ${file} does not exist`);
      const text = readFileSync(path.join(root, file), 'utf8');
      const isCarried = new RegExp(`\\b${promise}\\b`).test(text);
      assert.ok(isCarried, `${promise}: ${file} has no test of that number`);
    }
  }
});

test('every row and every rule has a test: rows 1 to 92, rules 1 to 24', () => {
  assert.deepEqual([ROWS.length, RULES.length], [92, 24]);
  assert.deepEqual(composeCatalogue(testFiles()).findings, []);
});

test('the page is what the titles of the tests make of it', () => {
  const { text } = composeCatalogue(testFiles());
  assert.ok(page === withCatalogue(page, text), `docs/promise.md is out of date; run: ${AGAIN}`);
});

test('a row that no test names is found', () => {
  const { findings } = composeCatalogue([{ path: 'a.test.ts', text: "test('row 7: x', f)" }]);
  assert.ok(!findings.includes('row 7 has no test'));
  assert.ok(findings.includes('row 8 has no test'));
});

test('a number in a list or a range of a title counts, another one does not', () => {
  assert.deepEqual(numbersNamed('x (rows 38, 82 and 83)', 'row'), [38, 82, 83]);
  assert.deepEqual(numbersNamed('x (S1, faults row 21)', 'row'), [21]);
  assert.deepEqual(numbersNamed('x (spec faults 44–46)', 'row'), [44, 45, 46]);
  assert.deepEqual(numbersNamed('row 71, protocol 15: x', 'row'), [71]);
  assert.deepEqual(numbersNamed('row 71, protocol 15: x', 'protocol'), [15]);
  assert.deepEqual(numbersNamed('12 rows of 3 pods', 'row'), []);
});
