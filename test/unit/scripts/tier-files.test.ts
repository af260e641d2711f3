/** Tiers share no file: what is left out of a change's tests is played at night, and the other way round. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { tierFiles } from '../../../scripts/testing/tier-files.ts';

describe('the files of a tier', () => {
  let root = '';

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'rollcall-tiers-'));
    for (const name of ['conformance/b/heavy.nightly', 'conformance/a/light', 'unit/small']) {
      const file = path.join(root, 'test', `${name}.test.ts`);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, '');
    }
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('are those of its directory, without what is left to the night', () => {
    assert.deepEqual(tierFiles(root, 'conformance'), ['test/conformance/a/light.test.ts']);
    assert.deepEqual(tierFiles(root, 'unit'), ['test/unit/small.test.ts']);
  });

  it('are, at night, those of all directories that say so', () => {
    assert.deepEqual(tierFiles(root, 'nightly'), ['test/conformance/b/heavy.nightly.test.ts']);
  });
});
