// Fields of raw objects, read without trusting their types; what is not as documented is told, and counts as absent (protocol 22).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  readInteger,
  readObject,
  readObjects,
  readText,
  readTexts,
  readTimeMs,
  requireText,
} from '../../../../src/core/projections/raw-fields.ts';
import type { OnFault } from '../../../../src/core/projections/raw-fields.ts';

type Reader = (parent: JsonObject, field: string, onFault: OnFault) => unknown;

/** What is read of `it`, and what is told of it. */
function read(reader: Reader, parent: JsonObject): readonly [unknown, readonly string[]] {
  const faults: string[] = [];
  return [reader(parent, 'it', (message) => faults.push(message)), faults];
}

describe('a field that is absent or null', () => {
  it('is no fault, and reads as nothing of its type', () => {
    for (const parent of [{}, { it: null }]) {
      assert.deepEqual(read(readObject, parent), [{}, []]);
      assert.deepEqual(read(readObjects, parent), [[], []]);
      assert.deepEqual(read(readText, parent), [undefined, []]);
      assert.deepEqual(read(readInteger, parent), [undefined, []]);
      assert.deepEqual(read(readTexts, parent), [{}, []]);
      assert.deepEqual(read(readTimeMs, parent), [undefined, []]);
    }
  });
});

describe('a field of another type', () => {
  it('is told, and counts as absent', () => {
    assert.deepEqual(read(readObject, { it: [] }), [{}, ['it is not an object']]);
    assert.deepEqual(read(readText, { it: 7 }), [undefined, ['it is not text']]);
    assert.deepEqual(read(readInteger, { it: '7' }), [undefined, ['it is not a whole number']]);
    assert.deepEqual(read(readInteger, { it: 7.5 }), [undefined, ['it is not a whole number']]);
    assert.deepEqual(read(readTimeMs, { it: 'soon' }), [undefined, ['it is not a time']]);
    assert.deepEqual(read(readObjects, { it: {} }), [[], ['it is not a list of objects']]);
    const [text, faults] = read(requireText, { it: 7 });
    assert.deepEqual([text, faults], ['', ['it is not text', 'it is missing']]);
  });

  it('keeps what is right of a list or a map', () => {
    const list = read(readObjects, { it: [{ a: 1 }, 7] });
    assert.deepEqual(list, [[{ a: 1 }], ['it is not a list of objects']]);
    const map = read(readTexts, { it: { a: 'x', b: 7, c: 'y' } });
    assert.deepEqual(map, [{ a: 'x', c: 'y' }, ['it is not all text']]);
  });
});

describe('a field as documented', () => {
  it('has times from 1970 on: what is before says nothing', () => {
    assert.deepEqual(read(readTimeMs, { it: '1970-01-01T00:00:00Z' }), [0, []]);
    assert.deepEqual(read(readTimeMs, { it: '0001-01-01T00:00:00Z' }), [undefined, []]);
  });
});
