/** Areas hold files and tests that there are, no entry of a program, and numbers that a bound would notice. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { AREAS, areaNamed } from '../../mutation/areas.ts';
import { changedNumber } from '../../mutation/number-mutator.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const filesOf = (globs: readonly string[]): readonly string[] =>
  globs.flatMap((glob) => globSync(glob, { cwd: root }));

describe('an area of mutation testing', () => {
  for (const [name, area] of Object.entries(AREAS)) {
    it(`${name} has sources, tests and a project, and none of its sources acts while it loads`, () => {
      const sources = filesOf(area.sources);
      assert.ok(sources.length > 5);
      for (const glob of [...area.quickTests, ...area.slowTests]) {
        assert.ok(filesOf([glob]).length > 0, glob);
      }
      assert.ok(existsSync(path.join(root, area.tsconfig)));
      const acting = sources.filter((file) =>
        /^(?:await |process\.)/m.test(readFileSync(path.join(root, file), 'utf8')),
      );
      assert.deepEqual(acting, []);
    });
  }

  it('that nobody knows is refused by name', () => {
    assert.throws(() => areaNamed('cores'), /no area is called cores; there are core, /);
  });

  it('changes each number by enough to see', () => {
    assert.deepEqual([0, 1, 9, 10, 30_000].map(changedNumber), [1, 2, 10, 100, 300_000]);
  });
});
