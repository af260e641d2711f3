/** Lanes lose no file and repeat none; what measures seconds or bytes is alone. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { ALONE, lanesOf } from '../../../scripts/lib/lanes.ts';

const root = path.resolve(import.meta.dirname, '../../..');

describe('the lanes of a run', () => {
  it('keep every file once, those that measure the machine alone and last', () => {
    const alone = Object.keys(ALONE);
    const others = ['test/conformance/a.test.ts', 'test/conformance/b.test.ts'];
    const lanes = lanesOf([...alone, ...others], { isSlow: true, processorsCount: 2 });
    assert.deepEqual(lanes, [
      { files: others, atOnceMax: 3 },
      { files: alone, atOnceMax: 1 },
    ]);
  });

  it('are one where nothing is slow, and none without files', () => {
    const files = ['test/unit/a.test.ts'];
    assert.deepEqual(lanesOf(files, { isSlow: false, processorsCount: 1 }), [
      { files, atOnceMax: 3 },
    ]);
    assert.deepEqual(lanesOf([], { isSlow: true, processorsCount: 2 }), []);
  });

  it('name only files that there are', () => {
    const lost = Object.keys(ALONE).filter((file) => !existsSync(path.join(root, file)));
    assert.deepEqual(lost, []);
  });
});
