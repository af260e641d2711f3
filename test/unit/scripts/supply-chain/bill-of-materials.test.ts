// The bill of materials: the same packages give the same bytes, each with its hash (spec faults row 70).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  judgeBill,
  licenceOf,
  normalizeBill,
} from '../../../../scripts/supply-chain/bill-of-materials.ts';

const component = (name: string, version: string) => ({
  name,
  version,
  purl: `pkg:npm/${name}@${version}`,
  licenses: [{ license: { id: 'MIT' } }],
  hashes: [{ alg: 'SHA-512', content: 'ab'.repeat(64) }],
});

test('the bill does not depend on the order in which npm lists packages', () => {
  const components = [component('b', '1.0.0'), component('a', '1.0.0')];
  const reversed = [...components].reverse();
  assert.deepEqual(normalizeBill({ components }), normalizeBill({ components: reversed }));
});

test('row 70: a package without a hash is found', () => {
  const held = normalizeBill({ components: [component('a', '1.0.0')] });
  assert.equal(judgeBill(held).kind, 'held');
  const bare = normalizeBill({ components: [{ ...component('b', '2.0.0'), hashes: [] }] });
  assert.deepEqual(judgeBill(bare), { kind: 'broken', findings: ['b@2.0.0 has no hash'] });
});

test('a package that states no licence has none', () => {
  assert.equal(licenceOf({}), 'none');
  assert.equal(licenceOf({ licenses: [{ expression: '(MIT OR ISC)' }] }), '(MIT OR ISC)');
});
