// docs/testing.md says of each canary where it is looked for, what must break, and within how many seeds: as the code does.
// What it says of the night is so in .ci/nightly.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CANARIES } from '../../simulation/canaries/canaries.ts';
import { USERS_WORLDS } from '../../support/simulation/profiles.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const page = read('docs/testing.md');
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

function seedsText({ firstSeed, seedsMax }: (typeof CANARIES)[string]): string {
  return firstSeed === undefined ? String(seedsMax) : `${seedsMax} from ${firstSeed}`;
}

test('the table of canaries names each with its place, its promises and its stated seeds (row 18)', () => {
  const expected = Object.entries(CANARIES).map(([name, canary]) =>
    [name, canary.in, listed(canary.breaks), seedsText(canary)].join(' | '),
  );
  assert.deepEqual(rowsOfTable().toSorted(), expected.toSorted());
});

test('the night plays fresh seeds of every world and hunt, keeps what broke, and uploads it (14 A.2)', () => {
  const night = read('.ci/nightly');
  const worlds = /^for world in (.*); do$/m.exec(night)?.[1]?.split(' ');
  assert.deepEqual(worlds, [...USERS_WORLDS]);
  const fresh = night
    .split('\n')
    .filter((line) => /^ *night .*(?:npm run sim|simulation\/hunts\/run\.ts)/.test(line));
  assert.equal(fresh.length, 4, 'mixed, worlds, hunts from 1, fresh hunts');
  for (const line of fresh) assert.ok(line.endsWith('--keep-to "$kept"'), line);
  assert.equal(fresh.filter((line) => line.includes('--first "$seed"')).length, 3);
  const directory = /^kept="\$\{ROLLCALL_KEPT:-([\w-]+)\}"$/m.exec(night)?.[1];
  const upload = /uses: actions\/upload-artifact.*\n(?: .*\n)*? +path: (.*)\n/.exec(
    read('.github/workflows/nightly.yml'),
  );
  assert.equal(upload?.[1], directory);
});
