/** row 64, ADR 0039: how long a live read of an unseen intent stands for the next one. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CONFIRMED_FOR_MS,
  confirmIntents,
  confirmedForMs,
  isConfirmed,
} from '../../../../src/core/intents/confirmed-intents.ts';
import { mergeIntents } from '../../../../src/core/intents/merge-intents.ts';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { CreateIntent, DeleteIntent } from '../../../../src/core/model/state.ts';

const NOW_MS = 1_000_000;
const create: CreateIntent = {
  kind: 'create',
  node: nodeName('n1'),
  name: 'agents-a',
  recordedAtMs: 900_000,
  answer: { uid: uid('u1'), resourceVersion: resourceVersion('5') },
};
const removal: DeleteIntent = {
  kind: 'delete',
  name: 'agents-b',
  uid: uid('u2'),
  resourceVersion: resourceVersion('6'),
  recordedAtMs: 900_001,
  isAccepted: true,
};

describe('row 64: an intent that was confirmed live', () => {
  it('is so for half a minute, and by no clock that went back', () => {
    const at = (confirmedAtMs: number) => isConfirmed({ ...create, confirmedAtMs }, NOW_MS);
    assert.equal(isConfirmed(create, NOW_MS), false);
    assert.equal(at(NOW_MS), true);
    assert.equal(at(NOW_MS - CONFIRMED_FOR_MS + 1), true);
    assert.equal(at(NOW_MS - CONFIRMED_FOR_MS), false);
    assert.equal(at(NOW_MS + 1), false);
  });

  it('is read again when the first of them is due', () => {
    const early = { ...create, confirmedAtMs: NOW_MS - 10_000 };
    const late = { ...removal, confirmedAtMs: NOW_MS - 1_000 };
    assert.equal(confirmedForMs([late, early], NOW_MS), 20_000);
    assert.equal(confirmedForMs([], NOW_MS), CONFIRMED_FOR_MS);
  });

  it('is noted in the very record that was read', () => {
    const later = { ...removal, recordedAtMs: removal.recordedAtMs + 1 };
    const noted = confirmIntents([create, later], { intents: [create, removal], atMs: NOW_MS });
    assert.deepEqual(noted, [{ ...create, confirmedAtMs: NOW_MS }, later]);
    assert.deepEqual(confirmIntents([create], undefined), [create]);
  });

  it('is not once its name is recorded anew (S1)', () => {
    const confirmed = { ...create, confirmedAtMs: NOW_MS };
    const { answer: _answer, ...asked } = create;
    const again: CreateIntent = { ...asked, recordedAtMs: 950_000 };
    const [merged] = mergeIntents([confirmed], { record: [again] });
    assert.equal(merged?.confirmedAtMs, undefined);
    const [kept] = mergeIntents([confirmed], {});
    assert.deepEqual(kept, confirmed);
  });
});
