/** Text in the order of its UTF-16 units: the same on every machine. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compareText } from '../../src/compare-text.ts';

it('orders by UTF-16 units, not by a locale, and knows equal texts', () => {
  assert.ok(compareText('a', 'b') < 0);
  assert.ok(compareText('b', 'a') > 0);
  assert.equal(compareText('a', 'a'), 0);
  assert.deepEqual(['ä', 'b', 'B', 'a10', 'a2', ''].sort(compareText), [
    '',
    'B',
    'a10',
    'a2',
    'b',
    'ä',
  ]);
});
