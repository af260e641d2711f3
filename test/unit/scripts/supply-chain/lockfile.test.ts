// The lockfile check finds each way in which a package could come from elsewhere (spec faults row 70).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { checkLockfile } from '../../../../scripts/supply-chain/lockfile.ts';
import type { Lockfile, LockedPackage } from '../../../../scripts/supply-chain/lockfile.ts';

const INTEGRITY = `sha512-${'A'.repeat(86)}==`;

function check(
  entry: LockedPackage,
  change: { readonly installed?: Lockfile; readonly allowScripts?: Record<string, boolean> } = {},
): readonly string[] {
  const lockfile: Lockfile = {
    lockfileVersion: 3,
    packages: {
      '': { dependencies: { one: '1.0.0' } },
      'node_modules/one': { version: '1.0.0', integrity: INTEGRITY, ...entry },
    },
  };
  const { installed = lockfile, allowScripts = {} } = change;
  const manifest = { dependencies: { one: '1.0.0' }, allowScripts };
  const judgement = checkLockfile({ manifest, lockfile, installed });
  return judgement.kind === 'broken' ? judgement.findings : [];
}

test('row 70: an exact version with a SHA-512 holds', () => {
  assert.deepEqual(check({}), []);
});

for (const [what, entry] of [
  ['a range', { version: '^1.0.0' }],
  ['a weaker hash', { integrity: 'sha1-AAAA' }],
  ['an address', { resolved: 'https://registry.example/one.tgz' }],
  ['a link', { link: true }],
  ['an install script that nobody decided upon', { hasInstallScript: true }],
] as const) {
  test(`row 70: ${what} in the lockfile is found`, () => {
    assert.equal(check(entry).length, 1);
  });
}

test('row 70: a decision about a package that is gone is found', () => {
  assert.match(
    check({}, { allowScripts: { other: false } }).join(),
    /other: named in allowScripts/,
  );
});

test('row 70: another archive than the locked one, or nothing, installed is found', () => {
  const other = {
    'node_modules/one': { version: '1.0.0', integrity: `sha512-${'B'.repeat(86)}==` },
  };
  assert.match(check({}, { installed: { packages: other } }).join(), /another archive/);
  const lockfile: Lockfile = { lockfileVersion: 3, packages: { '': {} } };
  const judgement = checkLockfile({ manifest: {}, lockfile, installed: undefined });
  assert.deepEqual(judgement, { kind: 'broken', findings: ['nothing is installed: npm ci'] });
});

test('row 70: package.json and lockfile that differ are found', () => {
  const lockfile: Lockfile = { lockfileVersion: 3, packages: { '': { dependencies: {} } } };
  const manifest = { dependencies: { one: '1.0.0' } };
  const judgement = checkLockfile({ manifest, lockfile, installed: lockfile });
  assert.equal(judgement.kind, 'broken');
});
