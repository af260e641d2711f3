// The bill of materials: a change of what is shipped is a finding until it is meant (spec faults row 70).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import {
  compareBills,
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

test('the kept form does not depend on the order in which npm lists packages', () => {
  const components = [component('b', '1.0.0'), component('a', '1.0.0')];
  const reversed = [...components].reverse();
  assert.deepEqual(normalizeBill({ components }), normalizeBill({ components: reversed }));
});

test('row 70: a new, a gone and an exchanged package are found; the same ones hold', () => {
  const kept = normalizeBill({ components: [component('a', '1.0.0'), component('b', '1.0.0')] });
  assert.equal(compareBills(kept, kept).kind, 'held');
  const present = normalizeBill({ components: [component('a', '1.0.1'), component('c', '1.0.0')] });
  const judgement = compareBills(kept, present);
  assert.equal(judgement.kind, 'broken');
  const text = judgement.kind === 'broken' ? judgement.findings.join('\n') : '';
  for (const line of [/new: a@1.0.1/, /gone: a@1.0.0/, /new: c@/, /gone: b@/, /--update/]) {
    assert.match(text, line);
  }
});

test('row 70: the same version with another archive is found', () => {
  const kept = normalizeBill({ components: [component('a', '1.0.0')] });
  const hashes = [{ alg: 'SHA-512', content: 'cd'.repeat(64) }];
  const present = normalizeBill({ components: [{ ...component('a', '1.0.0'), hashes }] });
  assert.equal(compareBills(kept, present).kind, 'broken');
});

test('a package that states no licence has none', () => {
  assert.equal(licenceOf({}), 'none');
  assert.equal(licenceOf({ licenses: [{ expression: '(MIT OR ISC)' }] }), '(MIT OR ISC)');
});
