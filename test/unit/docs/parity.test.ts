// docs/parity.md and docs/spec/parity-rules.md: rules name code and tests that exist, differences are tagged, untested items tested.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { titlesIn } from '../../../scripts/testing/test-titles.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const [page, rules] = ['docs/parity.md', 'docs/spec/parity-rules.md'].map((file) =>
  readFileSync(path.join(root, file), 'utf8'),
);

/** "Behaviour that upstream itself never tests", as the specification lists it. */
const NEVER_TESTED = [
  'Namespace terminating',
  'burst cap 250',
  'delayed enqueue after Ready',
  'tombstone of pods',
  'revision event handlers',
  'cleanupHistory limits and live protection',
  'missing-hash-label repair',
  'Succeeded-pod event',
  'surge × failed backoff',
  'surge with vanished node error',
  'numberMisscheduled re-enqueue',
  'toleration replacement dropping seconds',
  'conditions preserved',
  'stuck-terminating node consuming maxUnavailable',
  'double deletion observation',
  'expectation expiry',
];

const SOURCE = /`((?:src|functions|packages\/[\w-]+\/src)\/[\w./-]+)`/g;
/** A test file in backquotes, and fragments of titles in double quotes after it. */
const TEST = /`((?:packages\/[\w-]+\/)?test\/[\w./-]+)`((?: "[^"]+")*)/g;
const TAG = /Differs[\s*/]+from[\s*/]+upstream\b/;

const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

function section(title: string): string {
  const document = title === 'Differences' ? page : rules;
  const text = document?.split(`\n## ${title}\n`)[1];
  assert.ok(text !== undefined, `there is no section ${title}`);
  return text.split('\n## ')[0] ?? '';
}

/** Cells of the rows of all tables in a text, without heads. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isHead = /^\|[-| ]+\|$/.test(lines[index + 1] ?? '');
    if (!line.startsWith('| ') || isHead) return [];
    return [
      line
        .slice(1, -1)
        .split(' | ')
        .map((cell) => cell.trim()),
    ];
  });
}

interface NamedTest {
  readonly file: string;
  readonly fragments: readonly string[];
}

function testsIn(cell: string): readonly NamedTest[] {
  return [...cell.matchAll(TEST)].map(([, file = '', quoted = '']) => ({
    file,
    fragments: [...quoted.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? ''),
  }));
}

const sourcesIn = (cell: string): readonly string[] =>
  [...cell.matchAll(SOURCE)].map((match) => match[1] ?? '');

/** What is wrong with the code and the tests that a row names. */
function faultsOf(where: string, tests: string): readonly string[] {
  const [sources, named] = [sourcesIn(where), testsIn(tests)];
  const faults = [...sources, ...named.map(({ file }) => file)]
    .filter((file) => !existsSync(path.join(root, file)))
    .map((file) => `${file} is gone`);
  if (sources.length === 0) faults.push('no code');
  if (named.length === 0) faults.push('no test');
  for (const { file, fragments } of named) {
    const text = existsSync(path.join(root, file)) ? read(file) : '';
    const missing = fragments.filter((fragment) => !text.includes(fragment));
    faults.push(...missing.map((fragment) => `${file} has no title with "${fragment}"`));
  }
  return faults;
}

test('every rule names code and tests that exist, with titles that are there', () => {
  const faults = rowsOf(section('Rules')).flatMap(([rule = '', where = '', tests = '']) =>
    faultsOf(where, tests).map((fault) => `${rule}: ${fault}`),
  );
  assert.deepEqual(faults, []);
});

test('every section of the specification has rules, each same or differing', () => {
  const text = section('Rules');
  for (let number = 1; number <= 14; number += 1) {
    const part = text.split(`\n### 2.${number} `)[1]?.split('\n### ')[0] ?? '';
    assert.ok(rowsOf(part).length > 0, `2.${number} has no rule`);
  }
  const rows = rowsOf(text);
  assert.ok(rows.length >= 100, `only ${rows.length} rules`);
  for (const [rule, , , verdict, more] of rows) {
    assert.ok(
      verdict === 'same' || verdict === '[differs](../parity.md#differences)',
      `${rule}: ${verdict}`,
    );
    assert.equal(more, undefined, `${rule}: too many cells`);
  }
});

test('a rule that differs names a file that has a row among the differences', () => {
  const differing = new Set(
    rowsOf(section('Differences')).flatMap(([file = '']) => sourcesIn(file)),
  );
  for (const [rule, where = '', , verdict] of rowsOf(section('Rules'))) {
    if (verdict === 'same') continue;
    assert.ok(
      sourcesIn(where).some((file) => differing.has(file)),
      `${rule}: ${where}`,
    );
  }
});

test('every tag `Differs from upstream:` has a row, and every row has its tag, a reason and a word on strict', () => {
  const files = globSync('{src,functions,packages/base/src}/**/*.ts', { cwd: root });
  const tagged = files.filter((file) => TAG.test(read(file)));
  const rows = rowsOf(section('Differences'));
  const named = new Set(rows.flatMap(([file = '']) => sourcesIn(file)));
  assert.ok(tagged.length > 20);
  assert.deepEqual([...named].toSorted(), tagged.toSorted());
  for (const [file = '', what = '', why = '', issue = '', strict = ''] of rows) {
    const [code, annotation] = [sourcesIn(file).map(read).join(''), /compat|strict/i];
    assert.ok(what.length > 20 && why.length > 5, `${file}: what and why`);
    assert.match(issue, /^(–|#\d+(, #\d+)*)$/, `${file}: issue`);
    assert.match(strict, /^(–|restores it)$/, `${file}: strict`);
    if (strict !== '–') assert.match(code, annotation, `${file} does not look at it`);
  }
});

test('everything that upstream never tests has a test that says so', () => {
  const rows = rowsOf(section('What the built-in controller never tests'));
  assert.deepEqual(
    rows.map(([item]) => item),
    NEVER_TESTED,
  );
  for (const [item = '', , tests = ''] of rows) {
    const named = testsIn(tests);
    assert.ok(named.length > 0, item);
    for (const { file } of named) {
      const titles = titlesIn(read(file));
      const isNamed = titles.some((title) => title.includes(`upstream never tests: ${item}`));
      assert.ok(isNamed, `${file} has no title with "upstream never tests: ${item}"`);
    }
  }
});

test('a row whose file or title is gone is found', () => {
  const claim = '`test/unit/core/view/view.test.ts`';
  assert.deepEqual(faultsOf('`src/core/view/view.ts`', `${claim} "grouping by node"`), []);
  assert.equal(faultsOf('`src/core/gone.ts`', `${claim} "grouping by node"`).length, 1);
  assert.equal(
    faultsOf('`src/core/view/view.ts`', `${claim} "grouping by node" "no such title"`).length,
    1,
  );
  assert.equal(faultsOf('–', '–').length, 2);
});
