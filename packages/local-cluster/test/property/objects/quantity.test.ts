/** Quantities of any kind: canonical texts, order, sums, rounding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
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
const quantity = text.map((it) => {
  const parsed = parseQuantity(it);
  assert.ok(parsed, it);
  return parsed;
});

test('what is written is read as the same amount, and written again the same', () => {
  fc.assert(
    fc.property(quantity, (original) => {
      const written = formatQuantity(original);
      const read = parseQuantity(written);
      assert.ok(read, written);
      assert.equal(compareQuantities(read, original), 0, written);
      assert.equal(formatQuantity(read), written);
    }),
    { numRuns: 2000 },
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
