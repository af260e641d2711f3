/** Integers in text, as Go reads them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCanonicalInteger, parseInteger } from '../../src/integer.ts';

describe('parseInteger', () => {
  const rows: readonly [string, bigint | undefined, bigint | undefined][] = [
    ['0', 0n, 0n],
    ['-5', -5n, -5n],
    ['+5', 5n, undefined],
    ['007', 7n, undefined],
    ['-0', 0n, undefined],
    ['9223372036854775807', 9223372036854775807n, 9223372036854775807n],
    ['9223372036854775808', undefined, undefined],
    ['-9223372036854775808', -9223372036854775808n, -9223372036854775808n],
    ['-9223372036854775809', undefined, undefined],
    ['', undefined, undefined],
    ['1.5', undefined, undefined],
    ['1e3', undefined, undefined],
    [' 1', undefined, undefined],
  ];
  for (const [text, plain, canonical] of rows) {
    it(`reads "${text}" as ${plain}, strictly as ${canonical}`, () => {
      assert.equal(parseInteger(text), plain);
      assert.equal(parseCanonicalInteger(text), canonical);
    });
  }
});
