/** Equal texts and label maps are held once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createInterner } from '../../../../src/watcher/project/projection.ts';

describe('a pool of texts and label maps', () => {
  it('answers with the label map that it saw first, and never with another one', () => {
    const interner = createInterner();
    const first = { app: 'a' };
    assert.equal(interner.labels(first), first);
    assert.equal(interner.labels({ app: 'a' }), first);
    assert.deepEqual(interner.labels({ app: 'b' }), { app: 'b' });
    assert.equal(interner.text('x'), 'x');
    assert.equal(interner.text('x'), 'x');
  });

  it('is dropped when it is full, and starts again', () => {
    const interner = createInterner();
    const first = { app: 'first' };
    interner.labels(first);
    for (let number = 1; number < 50_000; number += 1) interner.labels({ n: String(number) });
    assert.equal(interner.labels({ app: 'first' }), first, 'the last one that fits drops nothing');
    interner.labels({ n: 'one more' });
    assert.notEqual(interner.labels({ app: 'first' }), first);
  });
});
