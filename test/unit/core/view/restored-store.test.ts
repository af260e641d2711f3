/** row 71: how far a store must be, by what was seen of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { isStoreRestored } from '../../../../src/core/view/restored-store.ts';

const v = resourceVersion;
const meta = { era: 2, marks: { DaemonSet: v('90'), Pod: v('500') } };

describe('row 71, protocol 15: a store that was restored', () => {
  it('is behind the mark of DaemonSets, in the order of whole numbers', () => {
    const written = undefined;
    assert.equal(isStoreRestored(v('89'), { meta, written }), true);
    assert.equal(isStoreRestored(v('90'), { meta, written }), false);
    assert.equal(isStoreRestored(v('100'), { meta, written }), false, 'Pod has a store of its own');
    const far = { era: 2, marks: { DaemonSet: v('10000000000000000001') } };
    assert.equal(isStoreRestored(v('10000000000000000000'), { meta: far, written }), true);
  });

  it('is behind what our own writes of this era returned', () => {
    const of = (era: number) => ({ meta, written: { era, daemonSet: v('95') } });
    assert.equal(isStoreRestored(v('94'), of(2)), true);
    assert.equal(isStoreRestored(v('95'), of(2)), false);
    assert.equal(isStoreRestored(v('94'), of(1)), false, 'those of a lost era are void');
  });

  it('is not told by what is unknown', () => {
    assert.equal(isStoreRestored(undefined, { meta, written: undefined }), false);
    const empty = { era: 2, marks: {} };
    assert.equal(isStoreRestored(v('1'), { meta: empty, written: undefined }), false);
    assert.equal(isStoreRestored(v('1'), { meta: empty, written: { era: 2 } }), false);
  });
});
