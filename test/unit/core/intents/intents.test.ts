/** Judging intents (protocol 3–5, spec 2.3 step 1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  judgeIntents,
  unshownCreates,
  CONFIRMED_FOR_MS,
  confirmIntents,
  confirmedForMs,
  isConfirmed,
} from '../../../../src/core/intents/intents.ts';
import type { JudgeIntentsInput } from '../../../../src/core/intents/intents.ts';
import { resourceVersion, nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { Intent, CreateIntent, DeleteIntent } from '../../../../src/core/model/state.ts';
import {
  LIFE_MS,
  NOW_MS,
  TIMEOUT_MS,
  answerOf,
  createIntent,
  deleteIntent,
  namedPod,
  outrun,
  pod,
  slot,
} from '../../../support/core-fixtures.ts';
import { mergeIntents } from '../../../../src/core/intents/merge-intents.ts';

function judge(intent: Intent, options: Partial<JudgeIntentsInput> = {}): string {
  const judgement = judgeIntents({
    state: { intents: [intent], written: { era: 1 } },
    pods: [],
    marks: {},
    era: 1,
    nowMs: NOW_MS,
    requestTimeoutMs: TIMEOUT_MS,
    ...options,
  });
  const kinds = ['unseen', 'unresolved', 'settled'] as const;
  const [kind, ...others] = kinds.filter((each) => judgement[each].length > 0);
  assert.equal(others.length, 0, 'an intent is in exactly one list');
  return kind ?? 'nowhere';
}

const after = (ms: number): { readonly nowMs: number } => ({ nowMs: NOW_MS + ms });
const inEra = (intent: Intent, era: number): Partial<JudgeIntentsInput> => ({
  state: { intents: [intent], written: { era } },
});

describe('an answered create', () => {
  const intent = createIntent('n1', { answer: answerOf(slot('n1'), '90') });
  it('is unseen until the pod with the answered UID is seen', () => {
    assert.equal(judge(intent), 'unseen');
    assert.equal(judge(intent, { pods: [namedPod('n1', 'other')] }), 'unseen');
    assert.equal(judge(intent, { pods: [pod('n1')] }), 'settled');
  });
  it('is met by a pod that is seen terminating already (spec faults 42)', () => {
    assert.equal(judge(intent, { pods: [pod('n1', { isTerminating: true })] }), 'settled');
  });
  it('or until the mark has passed the answered version (spec faults 91)', () => {
    assert.equal(judge(intent, { marks: { Pod: resourceVersion('89') } }), 'unseen');
    assert.equal(judge(intent, { marks: { Pod: resourceVersion('90') } }), 'settled');
    assert.equal(judge(intent, { marks: { Pod: resourceVersion('100') } }), 'settled');
    assert.equal(judge(intent, { marks: { Node: resourceVersion('100') } }), 'unseen');
  });
  it('stays recorded while only a live read shows its pod: the next run would not know of it (row 2, S10)', () => {
    const { uid } = pod('n1');
    assert.equal(judge(intent, { live: new Map([[uid, pod('n1')]]) }), 'unseen');
    assert.equal(judge(intent, { live: new Map([[uid, null]]) }), 'settled');
  });
  it('is not met by a mark while a live read finds its pod, but by one that finds none (S1)', () => {
    const passed = { marks: { Pod: resourceVersion('100') } };
    const { uid } = pod('n1');
    assert.equal(judge(intent, { ...passed, live: new Map([[uid, pod('n1')]]) }), 'unseen');
    assert.equal(judge(intent, { ...passed, live: new Map([[uid, null]]) }), 'settled');
    assert.equal(judge(intent, { ...passed, live: new Map([[pod('n2').uid, null]]) }), 'settled');
  });
  it('never expires by the clock (spec faults 13)', () => {
    assert.equal(judge(intent, after(86_400_000)), 'unseen');
  });
  it('stays open while an earlier request of its name may still arrive (protocol 5)', () => {
    const outran: Intent = { ...intent, ...outrun(NOW_MS - 5000) };
    assert.equal(judge(outran), 'unseen');
    assert.equal(judge(outran, { pods: [pod('n1')] }), 'unresolved');
    const late = { pods: [pod('n1')], ...after(LIFE_MS - 5000) };
    assert.equal(judge(outran, late), 'settled');
  });
  it('is void in a new era (spec faults 71)', () => {
    assert.equal(judge(intent, inEra(intent, 0)), 'settled');
  });
});

describe('S1: creates that no view ever showed', () => {
  const answered = createIntent('n1', { answer: answerOf(slot('n1'), '90') });
  const unshown = (settled: readonly Intent[], options: Partial<JudgeIntentsInput> = {}): number =>
    unshownCreates(
      { settled },
      { state: { intents: settled, written: { era: 1 } }, pods: [], era: 1, ...options },
    ).length;
  it('are those that a mark alone settled', () => {
    assert.equal(unshown([answered]), 1);
    assert.equal(unshown([answered], { pods: [pod('n1')] }), 0);
    assert.equal(unshown([answered], { pods: [namedPod('n1', 'other')] }), 1);
  });
  it('are none of those that nobody answered, of deletes, and of another era', () => {
    assert.equal(unshown([createIntent('n1'), deleteIntent(pod('n1'))]), 0);
    assert.equal(unshown([answered], { era: 2 }), 0);
  });
});

describe('a create without an answer', () => {
  const intent = createIntent('n1');
  it('is never met by a mark, nor by a pod of its name (protocol 3)', () => {
    assert.equal(judge(intent, { marks: { Pod: resourceVersion('999') } }), 'unresolved');
    assert.equal(judge(intent, { pods: [pod('n1')] }), 'unresolved');
  });
  it('is resolved by twice the time-out after its run could send no more (protocol 4, 5)', () => {
    const startsByMs = NOW_MS + 20_000;
    const late = { ...intent, startsByMs };
    assert.equal(judge(late, { nowMs: startsByMs + 2 * TIMEOUT_MS - 1 }), 'unresolved');
    assert.equal(judge(late, { nowMs: startsByMs + 2 * TIMEOUT_MS }), 'settled');
  });
  it('stays in a new era: the request may still arrive', () => {
    assert.equal(judge(intent, inEra(intent, 0)), 'unresolved');
  });
});

describe('a delete', () => {
  const victim = pod('n1');
  const open = deleteIntent(victim);
  const accepted = deleteIntent(victim, { isAccepted: true });
  const leaving: PodProjection = { ...victim, isTerminating: true };
  const moved: PodProjection = { ...victim, resourceVersion: resourceVersion('61') };
  const older: PodProjection = { ...victim, resourceVersion: resourceVersion('59') };

  for (const [title, intent, waiting] of [
    ['accepted', accepted, 'unseen'],
    ['without an answer', open, 'unresolved'],
  ] as const) {
    it(`${title} waits while its pod looks as it did`, () => {
      assert.equal(judge(intent, { pods: [victim] }), waiting);
    });
    it(`${title} is met when the UID is gone, re-made under its name, or terminating`, () => {
      assert.equal(judge(intent), 'settled');
      assert.equal(judge(intent, { pods: [namedPod('n1', 'other')] }), 'settled');
      assert.equal(judge(intent, { pods: [leaving] }), 'settled');
    });
    it(`${title} is dead once its version moved, not when the view is older`, () => {
      assert.equal(judge(intent, { pods: [moved] }), 'settled');
      assert.equal(judge(intent, { pods: [older] }), waiting);
    });
  }

  it('takes a live read over the view (protocol 4, spec faults 77)', () => {
    const live = (pod: PodProjection | null): Partial<JudgeIntentsInput> => ({
      pods: [victim],
      live: new Map([[victim.uid, pod]]),
    });
    assert.equal(judge(open, live(moved)), 'settled');
    assert.equal(judge(open, live(victim)), 'unresolved');
    assert.equal(judge(open, { ...live(null), pods: [] }), 'settled');
    assert.equal(judge(open, { ...live(null), pods: [leaving] }), 'settled');
  });

  it('that a live read found met is unseen while the view shows its pod alive (S3)', () => {
    for (const found of [null, leaving]) {
      const live = new Map([[victim.uid, found]]);
      assert.equal(judge(open, { pods: [victim], live }), 'unseen');
      assert.equal(judge(accepted, { pods: [victim], live }), 'unseen');
    }
  });

  it('accepted is void once a live read finds its pod alive: etcd was restored unnoticed (row 71)', () => {
    for (const found of [older, victim]) {
      const live = new Map([[victim.uid, found]]);
      assert.equal(judge(accepted, { pods: [found], live }), 'settled');
      assert.equal(judge(open, { pods: [found], live }), 'unresolved');
    }
    const other = new Map([[pod('n2').uid, pod('n2')]]);
    assert.equal(judge(accepted, { pods: [victim], live: other }), 'unseen');
  });

  it('without an answer is resolved by twice the time-out, an accepted one never is', () => {
    const late = { ...after(LIFE_MS), pods: [victim] };
    assert.equal(judge(open, late), 'settled');
    assert.equal(judge(accepted, late), 'unseen');
  });

  it('in a new era is void when accepted, and judged by identity and time otherwise', () => {
    assert.equal(judge(accepted, { ...inEra(accepted, 0), pods: [victim] }), 'settled');
    assert.equal(judge(open, { ...inEra(open, 0), pods: [moved] }), 'unresolved');
    assert.equal(judge(open, { ...inEra(open, 0), pods: [leaving] }), 'settled');
  });
});

/** row 64, ADR 0031: how long a live read of an unseen intent stands for the next one. */

const create: CreateIntent = {
  kind: 'create',
  node: nodeName('n1'),
  name: 'agents-a',
  recordedAtMs: 900_000,
  startsByMs: 910_000,
  answer: { uid: uid('u1'), resourceVersion: resourceVersion('5') },
};
const removal: DeleteIntent = {
  kind: 'delete',
  name: 'agents-b',
  uid: uid('u2'),
  resourceVersion: resourceVersion('6'),
  recordedAtMs: 900_001,
  startsByMs: 910_000,
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
