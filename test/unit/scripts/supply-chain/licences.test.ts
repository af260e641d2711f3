// Licences: permissive ones by their SPDX ids, exceptions by name (spec faults row 70).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { checkLicences, isAllowedLicence } from '../../../../scripts/supply-chain/licences.ts';

const one = { name: 'one', version: '1.0.0', isRuntime: false };
const EXCEPTION = { name: 'one', licence: 'CC-BY-4.0', reason: 'data' };

test('row 70: of a choice one licence is enough, of a sum all count', () => {
  assert.ok(isAllowedLicence('(MIT OR GPL-3.0)'));
  assert.ok(isAllowedLicence('MIT AND ISC'));
  assert.ok(!isAllowedLicence('MIT AND GPL-3.0'));
  assert.ok(!isAllowedLicence('SEE LICENSE IN FILE'));
  assert.ok(!isAllowedLicence('none'));
});

test('row 70: an exception lets a package help to build, never be shipped', () => {
  const licence = 'CC-BY-4.0';
  assert.equal(checkLicences([{ ...one, licence }], [EXCEPTION]).kind, 'held');
  assert.equal(checkLicences([{ ...one, licence, isRuntime: true }], [EXCEPTION]).kind, 'broken');
});

test('row 70: an exception that no package needs is found', () => {
  const judgement = checkLicences([{ ...one, licence: 'MIT' }], [EXCEPTION]);
  assert.deepEqual(judgement, {
    kind: 'broken',
    findings: ['exception one (CC-BY-4.0): no package needs it'],
  });
});
