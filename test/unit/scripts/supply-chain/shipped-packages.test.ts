/** What the product brings along, out of a lockfile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LockedPackage } from '../../../../scripts/supply-chain/lockfile.ts';
import { shippedPackages } from '../../../../scripts/supply-chain/shipped-packages.ts';

const shippedOf = (packages: Readonly<Record<string, LockedPackage>>): readonly string[] =>
  Object.keys(shippedPackages({ packages })).sort();

describe('shipped packages', () => {
  it('are what dependencies lead to, not what tests or a workspace alone need', () => {
    const shipped = shippedOf({
      '': { dependencies: { direct: '1.0.0' }, devDependencies: { tester: '1.0.0' } },
      'node_modules/direct': { dependencies: { inner: '^1.0.0' } },
      'node_modules/inner': {},
      'node_modules/tester': {},
      'packages/stand-in': { dependencies: { alone: '1.0.0' } },
      'node_modules/alone': {},
    });
    assert.deepEqual(shipped, ['node_modules/direct', 'node_modules/inner']);
  });

  it('are found as Node finds them: the nearest place first', () => {
    const shipped = shippedOf({
      '': { dependencies: { one: '1.0.0' } },
      'node_modules/one': { dependencies: { two: '^2.0.0' } },
      'node_modules/one/node_modules/two': { dependencies: { three: '*' } },
      'node_modules/two': {},
      'node_modules/three': { optionalDependencies: { missing: '*' } },
    });
    assert.deepEqual(shipped, [
      'node_modules/one',
      'node_modules/one/node_modules/two',
      'node_modules/three',
    ]);
  });

  it('go through links to packages of the repository, and round a circle once', () => {
    const shipped = shippedOf({
      '': { dependencies: { '@own/base': '1.0.0' } },
      'node_modules/@own/base': { link: true, resolved: 'packages/base' },
      'packages/base': { dependencies: { circle: '*' } },
      'node_modules/circle': { peerDependencies: { circle: '*' } },
    });
    assert.deepEqual(shipped, ['node_modules/@own/base', 'node_modules/circle']);
  });
});
