// What docs/testing.md says of the night is so in .ci/nightly.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { USERS_WORLDS } from '../../support/simulation/profiles.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

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
