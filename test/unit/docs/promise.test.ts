// docs/promise.md maps every promise, protocol rule and schedule to tests that exist and say so.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { titlesIn } from '../../support/test-titles.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const document = readFileSync(path.join(root, 'docs/promise.md'), 'utf8');

interface Mapping {
  readonly tag: string;
  readonly files: readonly string[];
}

/** Rows of the tables: a tag in the first cell, test files in the others. */
function mappings(): readonly Mapping[] {
  return document.split('\n').flatMap((line) => {
    const tag = /^\| \**([SLM]\d+|protocol \d+|row \d+)\** \|/.exec(line)?.[1];
    const files = line.match(/test\/[\w./-]+\.test\.ts/g) ?? [];
    return tag === undefined ? [] : [{ tag, files }];
  });
}

/** True if a title names the number: `row 5`, `rows 4, 5`, `faults 5`, `protocol 4–6`. */
function isNamed(title: string, word: 'protocol' | 'row', number: number): boolean {
  const words = word === 'row' ? 'rows?|faults' : 'protocol';
  const lists = [...title.matchAll(new RegExp(`\\b(?:${words}) (\\d[\\d, –]*)`, 'g'))];
  return lists.some((list) =>
    (list[1] ?? '').split(',').some((part) => {
      const [first, last = first] = part.trim().split('–').map(Number);
      return first !== undefined && last !== undefined && first <= number && number <= last;
    }),
  );
}

function isCarriedBy(file: string, tag: string): boolean {
  const text = readFileSync(path.join(root, file), 'utf8');
  const [word, number] = tag.split(' ');
  if (number === undefined) return new RegExp(`\\b${tag}\\b`).test(text);
  const kind = word === 'row' ? 'row' : 'protocol';
  return titlesIn(text).some((title) => isNamed(title, kind, Number(number)));
}

const numbered = (word: string, first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => `${word}${first + index}`);

test('every promise, every protocol rule and every row from 71 to 92 is mapped exactly once', () => {
  const expected = [
    ...numbered('S', 1, 12),
    ...numbered('L', 1, 4),
    ...numbered('M', 1, 4),
    ...numbered('protocol ', 1, 24),
    ...numbered('row ', 71, 92),
  ];
  assert.deepEqual(
    mappings().map(({ tag }) => tag),
    expected,
  );
});

test('every mapping names at least one test', () => {
  const bare = mappings().filter(({ files }) => files.length === 0);
  assert.deepEqual(bare, []);
});

test('every named test exists, and carries the number', () => {
  for (const { tag, files } of mappings()) {
    for (const file of files) {
      assert.ok(existsSync(path.join(root, file)), `${tag}: ${file} does not exist`);
      assert.ok(isCarriedBy(file, tag), `${tag}: ${file} has no test of that number`);
    }
  }
});

test('a number in a list or a range of a title counts, another one does not', () => {
  assert.ok(isNamed('x (rows 38, 82)', 'row', 82));
  assert.ok(isNamed('x (protocol 1–4)', 'protocol', 3));
  assert.ok(!isNamed('row 71, protocol 15: x', 'row', 15));
  assert.ok(!isNamed('row 7: x', 'row', 71));
});
