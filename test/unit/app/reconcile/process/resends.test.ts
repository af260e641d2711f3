/** protocol 12: a due time that is near is sent again, but not once per hint. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Resends } from '../../../../../src/app/reconcile/process/resends.ts';

describe('protocol 12: due times sent again', () => {
  it('once when many hints of a key arrive together', () => {
    const resends = new Resends();
    const sent = Array.from({ length: 20 }, (_, index) => resends.take('key', 5000, index));
    assert.equal(sent.filter(Boolean).length, 1);
  });

  it('again after a second, so that a timer which came too early is replaced', () => {
    const resends = new Resends();
    assert.ok(resends.take('key', 5000, 0));
    assert.ok(resends.take('key', 5000, 1000));
  });

  it('for each due time and each key of its own', () => {
    const resends = new Resends();
    assert.ok(resends.take('key', 5000, 0));
    assert.ok(resends.take('key', 6000, 1));
    assert.ok(resends.take('other', 5000, 2));
  });
});
