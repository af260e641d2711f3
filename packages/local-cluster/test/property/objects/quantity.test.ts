/** Quantities of any kind: canonical texts, order, sums, rounding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '../../../src/objects/quantity.ts';

/** Below 1000E: multiples of that are written without a suffix and so lose their size, as upstream. */
const suffix = fc.constantFrom(
  ...['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'E-2', 'e+1'],
);
const text = fc
  .tuple(
    fc.constantFrom('', '-', '+'),
    fc.nat({ max: 1_000_000 }),
    fc.option(fc.stringMatching(/^\d{1,12}$/), { nil: undefined }),
    suffix,
  )
  .map(([sign, whole, fraction, unit]) =>
    [sign, String(whole), fraction === undefined ? '' : `.${fraction}`, unit].join(''),
  );
const quantity = text.map(sample);

function sample(it: string): Quantity {
  const parsed = parseQuantity(it);
  assert.ok(parsed, it);
  return parsed;
}

test('what is written is read as the same amount, and written again the same', () => {
  fc.assert(
    fc.property(quantity, (original) => {
      const written = formatQuantity(original);
      const read = parseQuantity(written);
      assert.ok(read, written);
      assert.equal(compareQuantities(read, original), 0, written);
      // 62.5Ki is written as 64000, which no suffix tells from a decimal amount, as upstream.
      const isDecimalNow = original.format === 'BinarySI' && read.format !== 'BinarySI';
      if (!isDecimalNow) assert.equal(formatQuantity(read), written);
    }),
    { numRuns: 2000, examples: [[sample('62.5Ki')], [sample('4.8828125Ki')]] },
  );
});

test('comparison is an order that sums respect', () => {
  fc.assert(
    fc.property(quantity, quantity, quantity, (first, second, added) => {
      const order = compareQuantities(first, second);
      assert.equal(Math.sign(compareQuantities(second, first)) + Math.sign(order), 0);
      const sums = compareQuantities(addQuantities(first, added), addQuantities(second, added));
      assert.equal(Math.sign(sums), Math.sign(order));
    }),
  );
});
