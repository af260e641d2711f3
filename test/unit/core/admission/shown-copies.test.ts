/** What is shown of copies of good templates, and in which words (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeCopies, shownCopies } from '../../../../src/core/admission/shown-copies.ts';
import { recordOf } from '../../../support/rollout-records.ts';

const revision = (hash: string) => ({ hash, provenAtMs: 1, isBaseline: false });
const copy = (slot: 'a' | 'b', hash: string) => ({ slot, hash, seenAtMs: 7 });

describe('shown copies', () => {
  it('name each by its revision and place, and the one that a rollback leads to', () => {
    const record = recordOf({ hash: 'new', proven: revision('new'), former: revision('old') });
    const shown = shownCopies(record, { held: [copy('a', 'old'), copy('b', 'new')] });
    assert.deepEqual(shown.back, { revision: 'old', isHeld: true });
    assert.equal(describeCopies(shown), 'old as proven-a, new as proven-b');
  });

  it('say that there is none of it, and that a write was refused', () => {
    const record = recordOf({ hash: 'new', proven: revision('old') });
    const shown = shownCopies(record, { held: [copy('a', 'older')], refusedAtMs: 5 });
    assert.deepEqual(shown, {
      held: [{ revision: 'older', place: 'proven-a', seenAtMs: 7 }],
      back: { revision: 'old', isHeld: false },
      refusedAtMs: 5,
    });
    assert.equal(
      describeCopies(shown),
      'older as proven-a; none is known of old: where admission is installed its pods are refused; the last write was refused (CopyRefused)',
    );
  });
});
