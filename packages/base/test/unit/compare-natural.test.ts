/** Names as a person sorts them: numbers by their value. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compareNatural } from '../../src/compare-text.ts';

it('orders numbers within names by their value, and is a whole order', () => {
  const sorted = [
    '',
    '2',
    '10',
    'local',
    'local-01',
    'local-1',
    'local-2',
    'local-2-a',
    'local-9',
    'local-10',
    'local-10-b',
    'local-100000000000000000001',
    'local-100000000000000000002',
    'local-x',
    'prod-eu-1',
  ];
  for (const [place, left] of sorted.entries()) {
    for (const [other, right] of sorted.entries()) {
      assert.equal(
        Math.sign(compareNatural(left, right)),
        Math.sign(place - other),
        `${left} and ${right}`,
      );
    }
  }
});
