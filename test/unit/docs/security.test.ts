/** The threat model says for each threat which test shows that it is stopped (issue 40, item 10). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/security.md'), 'utf8');

/** Cells of the first table under a heading, without its first two lines. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n${heading}\n`);
  const table = section.split('\n\n').find((part) => part.trim().startsWith('|')) ?? '';
  const lines = table.trim().split('\n').slice(2);
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

for (const heading of ['## Threats', '## Rights']) {
  test(`each row under "${heading}" names a test that is there`, () => {
    const rows = rowsUnder(heading);
    assert.ok(rows.length > 5);
    for (const row of rows) {
      const named = [...(row.at(-2) ?? '').matchAll(/`((?:packages\/[a-z-]+\/)?test\/[^`]+)`/g)];
      assert.ok(named.length > 0, `no test for: ${row.join(' | ')}`);
      for (const [, file = ''] of named) assert.ok(existsSync(path.join(root, file)), file);
    }
  });
}

test('the table of functions has a row for each of them', () => {
  const names = readdirSync(path.join(root, 'functions')).filter((name) =>
    existsSync(path.join(root, 'functions', name, 'handler.ts')),
  );
  const told = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    names.filter((name) => !told.includes(name)),
    [],
  );
});
