// Every plan that ever broke a promise, shrunk and kept, is played again.
import { test } from 'node:test';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describeBroken } from '../support/simulation/describe-broken.ts';
import { KEPT_DIRECTORY, readKept } from '../support/simulation/kept-plan.ts';
import { playPlan } from '../support/simulation/play-plan.ts';

const files = existsSync(KEPT_DIRECTORY) ? readdirSync(KEPT_DIRECTORY).sort() : [];

for (const name of files) {
  test(`M1, M3: the kept plan ${name} breaks no promise any more`, async () => {
    const file = path.join(KEPT_DIRECTORY, name);
    const result = await playPlan(readKept(file).plan);
    const command = `npm run sim -- --replay test/regression/simulation/${name}`;
    if (result.kind === 'broken') throw new Error(describeBroken(result, command));
  });
}
