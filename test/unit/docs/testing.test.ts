// docs/testing.md says of each canary where it is looked for, what must break, and within how many seeds: as the code does.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CANARIES } from '../../simulation/canaries/canaries.ts';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/testing.md'), 'utf8');
const HEAD = '| canary | in | breaks | within |';

/** One line for each canary of the table; several may share a row. */
function rowsOfTable(): readonly string[] {
  const from = page.indexOf(HEAD);
  assert.ok(from >= 0, `docs/testing.md has no table ${HEAD}`);
  const table = page.slice(from).split('\n\n')[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => {
      const [names = '', ...cells] = row.split('|').slice(1, -1);
      return names
        .split(',')
        .map((name) => [name, ...cells].map((cell) => cell.trim()).join(' | '));
    });
}

function listed(items: readonly string[]): string {
  return items.length < 2
    ? items.join()
    : `${items.slice(0, -1).join(', ')} or ${items.at(-1) ?? ''}`;
}

test('the table of canaries names each with its place, its promises and its stated seeds (row 18)', () => {
  const expected = Object.entries(CANARIES).map(([name, canary]) =>
    [name, canary.in, listed(canary.breaks), String(canary.seedsMax)].join(' | '),
  );
  assert.deepEqual(rowsOfTable().toSorted(), expected.toSorted());
});
