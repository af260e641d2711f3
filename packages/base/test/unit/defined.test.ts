/** What is undefined is left out; everything else stays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { defined } from '../../src/defined.ts';

interface Wish {
  readonly name: string;
  readonly waitMs?: number;
  readonly note?: string | null;
}

function wishFor(name: string, waitMs: number | undefined): Wish {
  return { name, ...defined({ waitMs }) };
}

describe('defined', () => {
  it('leaves out what is undefined, so that it is neither a field nor in JSON', () => {
    assert.deepEqual(Object.keys(wishFor('a', undefined)), ['name']);
    assert.deepEqual(wishFor('a', 5), { name: 'a', waitMs: 5 });
  });

  it('keeps null, zero, false and the empty text', () => {
    const fields = { none: null, zero: 0, isOn: false, text: '' };
    assert.deepEqual(defined(fields), fields);
  });
});
