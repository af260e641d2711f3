/** Lanes lose no file and repeat none; what measures seconds or bytes is alone, what changes its process has one of its own. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import {
  ALONE,
  APART,
  BESIDE_ALONE,
  isSharing,
  lanesOf,
  LONG,
  OWN,
  WAITING,
} from '../../../scripts/testing/lanes.ts';
import { tierFiles } from '../../../scripts/testing/tier-files.ts';

const root = path.resolve(import.meta.dirname, '../../..');

describe('the lanes of a run', () => {
  it('keep every file once, those that wait beside the others, those that measure the machine alone and last', () => {
    const alone = Object.keys(ALONE);
    const others = ['test/conformance/a.test.ts', 'test/conformance/b.test.ts'];
    const longest = ['test/conformance/staged/copilot.test.ts'];
    const waiting = ['test/conformance/cli/answers.test.ts'];
    const beside = ['test/conformance/handover/handover.test.ts'];
    const together = alone.filter((file) => /chaos|surge/.test(file));
    const setting = { isSlow: true, processorsCount: 2 };
    assert.deepEqual(lanesOf([...alone, ...beside, ...waiting, ...longest, ...others], setting), [
      [
        { files: longest, atOnceMax: 2, process: 'own' },
        { files: waiting, atOnceMax: 2, process: 'own' },
        { files: others, atOnceMax: 5, process: 'own' },
      ],
      [
        { files: beside, atOnceMax: 5, process: 'own' },
        { files: together, atOnceMax: 2, process: 'own' },
      ],
      [{ files: alone.filter((file) => !together.includes(file)), atOnceMax: 1, process: 'own' }],
    ]);
  });

  it('are one where nothing is slow: what shares processes, what takes longest, and the rest', () => {
    const own = ['test/security/a.test.ts', ...Object.keys(APART)];
    const sharing = ['a', 'b', 'c', 'd'].map((name) => `test/unit/core/${name}.test.ts`);
    const setting = { isSlow: false, processorsCount: 1 };
    assert.deepEqual(lanesOf([...own, ...LONG.flat(), ...sharing], setting), [
      [
        { files: [sharing[0], sharing[3]], atOnceMax: 1, process: 'shared' },
        { files: [sharing[1]], atOnceMax: 1, process: 'shared' },
        { files: [sharing[2]], atOnceMax: 1, process: 'shared' },
        ...LONG.map((row) => ({ files: row, atOnceMax: 1, process: 'own' })),
        { files: own, atOnceMax: 3, process: 'own' },
      ],
    ]);
    assert.deepEqual(lanesOf(own, setting), [[{ files: own, atOnceMax: 3, process: 'own' }]]);
    assert.deepEqual(lanesOf([], { ...setting, isSlow: true }), []);
  });

  it('give no file that changes its process, or hooks all tests of it, to one that others share', () => {
    const changes =
      /^(?:before|after|beforeEach|afterEach)\(|^import .*node:child_process|^import .*node:worker_threads|process\.env\[[^\]]+\] =[^=]|delete process\.env|process\.(?:chdir|exit)\(|process\.exitCode =|\bmock\.|process\.argv =[^=]|Object\.assign\(process\.env/m;
    const files = ['unit', 'property', 'simulation', 'integration', 'security', 'regression']
      .flatMap((tier) => tierFiles(root, tier))
      .filter(isSharing);
    assert.ok(files.length > 200, `only ${files.length} files share a process`);
    const changing = files.filter((file) =>
      changes.test(readFileSync(path.join(root, file), 'utf8')),
    );
    assert.deepEqual(changing, []);
    const needless = Object.keys(APART).filter(
      (file) => !changes.test(readFileSync(path.join(root, file), 'utf8')),
    );
    assert.deepEqual(needless, [], 'could share a process');
  });

  it('name only files and directories that there are', () => {
    const named = [
      ...Object.keys(ALONE),
      ...Object.keys(APART),
      ...BESIDE_ALONE,
      ...LONG.flat(),
      ...OWN,
      ...WAITING.flat(),
    ];
    const lost = named.filter((file) => !existsSync(path.join(root, file)));
    assert.deepEqual(lost, []);
  });
});
