/** Quantities: texts that kube-apiserver 1.36.3 was asked to write back, and those it refuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
} from '../../../src/objects/quantity.ts';
import type { Quantity } from '../../../src/objects/quantity.ts';

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  assert.ok(parsed, text);
  return parsed;
}

test('texts are written back as kube-apiserver 1.36.3 writes them', () => {
  const written: readonly (readonly [string, string])[] = [
    ['1.500', '1.500'],
    ['05', '05'],
    ['+1', '+1'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['1000e3', '1e6'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['1024', '1024'],
    ['1024Ki', '1Mi'],
    ['8Ki', '8Ki'],
    ['100000n', '100u'],
    ['1n', '1n'],
    ['1500', '1500'],
    ['2000', '2k'],
    ['1234.5', '1234500m'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['0.100', '100m'],
    ['00', '0'],
    ['-0', '0'],
    ['0Mi', '0'],
    ['e3', '0'],
    ['1000E', '1'],
    ['9223372036854775807', '9223372036854775807'],
    ['10000000000000000000', '10E'],
    ['1.0001Ki', '1024102400u'],
    ['0.1Ki', '102400m'],
    ['20Ei', '9223372036854775807'],
  ];
  for (const [text, expected] of written) {
    assert.equal(formatQuantity(quantity(text)), expected, text);
  }
});

test('texts that are no quantities are refused', () => {
  for (const text of ['', '1Ki2', '1.2.3', '1e', '1 Gi', 'a', '1GiB', '--1', '1e99999999']) {
    assert.equal(parseQuantity(text), undefined, text);
  }
});

test('amounts compare across formats', () => {
  assert.equal(compareQuantities(quantity('1Gi'), quantity('1073741824')), 0);
  assert.ok(compareQuantities(quantity('1G'), quantity('1Gi')) < 0);
  assert.ok(compareQuantities(quantity('100m'), quantity('0.099')) > 0);
  assert.ok(compareQuantities(quantity('-1'), quantity('0')) < 0);
});

test('a sum keeps the format of what was there first', () => {
  assert.equal(formatQuantity(addQuantities(quantity('1Gi'), quantity('1Gi'))), '2Gi');
  assert.equal(formatQuantity(addQuantities(quantity('0'), quantity('1Gi'))), '1Gi');
  assert.equal(formatQuantity(addQuantities(quantity('1'), quantity('500m'))), '1500m');
});
