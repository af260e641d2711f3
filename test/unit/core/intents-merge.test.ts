/** Merging intents by identity (design 3.6, protocol 4), and marks of own writes (spec 2.3 step 1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  rebaseState,
  hasUnseenWrites,
  noteWritten,
  rebaseWrittenMarks,
} from '../../../src/core/intents/intents.ts';
import {
  intentIdentity,
  mergeIntents,
  stampIntents,
  withdrawableIntents,
} from '../../../src/core/intents/merge-intents.ts';
import { resourceVersion, uid, type ResourceVersion } from '../../../src/core/model/identifiers.ts';
import { ZERO_STAMP } from '../../../src/core/model/position.ts';
import { RUN_MAX_MS } from '../../../src/core/pod/request-life.ts';
import {
  NOW_MS,
  answerOf,
  createIntent,
  deleteIntent,
  outrun,
  pod,
  slot,
  state,
} from '../../support/core-fixtures.ts';

const version = resourceVersion;

describe('mergeIntents', () => {
  const first = createIntent('n1');
  const victim = pod('n2');
  const removal = deleteIntent(victim);
  const again = createIntent('n1', { recordedAtMs: NOW_MS + 1 });
  const answer = {
    kind: 'created',
    name: slot('n1'),
    recordedAtMs: NOW_MS,
    ...answerOf(slot('n1')),
  } as const;
  const answerToLater = { ...answer, recordedAtMs: NOW_MS + 1 };
  const answered = { ...first, answer: answerOf(slot('n1')) };
  const outran = { ...again, ...outrun(NOW_MS) };

  it('keeps what others recorded, sorted by identity', () => {
    assert.deepEqual(mergeIntents([removal], { record: [first] }), [first, removal]);
    assert.equal(intentIdentity(removal), `delete/${victim.uid}`);
    assert.deepEqual(mergeIntents([removal], {}), [removal]);
    assert.deepEqual(mergeIntents([first], { record: [removal] }), [first, removal]);
  });

  it('does not depend on which of two records of one time came first', () => {
    const elsewhere = createIntent('n2', { name: first.name });
    const [one] = mergeIntents([first], { record: [elsewhere] });
    const [other] = mergeIntents([elsewhere], { record: [first] });
    assert.deepEqual(one, other);
    const aimed = deleteIntent(pod('10-0-0-1'));
    const { node: _none, ...aimless } = aimed;
    for (const pair of [
      [aimed, aimless],
      [aimless, aimed],
    ]) {
      assert.deepEqual(mergeIntents(pair.slice(0, 1), { record: pair.slice(1) }), [aimed]);
    }
  });

  it('lets the later record of an identity win, whichever comes first', () => {
    assert.deepEqual(mergeIntents([first], { record: [again] }), [outran]);
    assert.deepEqual(mergeIntents([again], { record: [first] }), [outran]);
    assert.deepEqual(mergeIntents([answered], { record: [first] }), [answered]);
    assert.deepEqual(mergeIntents([first], { record: [answered] }), [answered]);
  });

  it('settles what was judged, not what was recorded or answered since', () => {
    assert.deepEqual(mergeIntents([first, removal], { settle: [first] }), [removal]);
    assert.deepEqual(mergeIntents([again], { settle: [first] }), [again]);
    assert.deepEqual(mergeIntents([answered], { settle: [first] }), [answered]);
    assert.deepEqual(mergeIntents([removal], { settle: [first] }), [removal]);
  });

  it('remembers when an earlier request was recorded that was not settled (protocol 5)', () => {
    assert.deepEqual(mergeIntents([answered], { record: [again] }), [outran]);
    assert.deepEqual(mergeIntents([answered], { record: [again], settle: [answered] }), [again]);
    const both = { ...outran, answer: answerOf(slot('n1')) };
    assert.deepEqual(mergeIntents([outran], { answers: [answerToLater] }), [both]);
  });

  it('remembers by when the earlier request starts (protocol 5)', () => {
    const startsByMs = NOW_MS + 25_000;
    const one = { ...first, startsByMs };
    const two = { ...again, startsByMs: NOW_MS + 9000 };
    const joined = { ...two, earlier: { recordedAtMs: NOW_MS, startsByMs } };
    assert.deepEqual(mergeIntents([one], { record: [two] }), [joined]);
    assert.deepEqual(mergeIntents([two], { record: [one] }), [joined]);
    assert.deepEqual(mergeIntents([joined], { settle: [two] }), [one]);
    const gone = { ...removal, startsByMs };
    const repeated = { ...removal, recordedAtMs: NOW_MS + 1, startsByMs: NOW_MS + 2 };
    assert.deepEqual(mergeIntents([gone], { record: [repeated] }), [{ ...repeated, startsByMs }]);
    assert.deepEqual(mergeIntents([repeated], { record: [gone] }), [{ ...repeated, startsByMs }]);
  });

  it('falls back to the earlier request, unless the settler knew of it', () => {
    const rest = { ...first, recordedAtMs: NOW_MS };
    assert.deepEqual(mergeIntents([outran], { settle: [again] }), [rest]);
    assert.deepEqual(mergeIntents([outran], { settle: [outran] }), []);
    assert.deepEqual(mergeIntents([rest], { settle: [rest] }), []);
  });

  it('keeps several earlier requests as one that none of their runs can withdraw or answer (protocol 5)', () => {
    const third = createIntent('n1', { recordedAtMs: NOW_MS + 9 });
    const earlier = { recordedAtMs: NOW_MS + 8.5, startsByMs: NOW_MS + 1 + RUN_MAX_MS };
    const joined = { ...third, earlier };
    assert.deepEqual(mergeIntents([outran], { record: [third] }), [joined]);
    const both = { ...outran, answer: answerOf(slot('n1')) };
    assert.deepEqual(mergeIntents([both], { record: [third] }), [joined]);
    // The last run never sent it: what is left is of the two before, of which either may have made the pod.
    const rest = { ...first, ...earlier };
    assert.deepEqual(mergeIntents([joined], { settle: [third] }), [rest]);
    assert.deepEqual(mergeIntents([rest], { settle: [again] }), [rest]);
    assert.deepEqual(mergeIntents([rest], { settle: [first] }), [rest]);
    assert.deepEqual(mergeIntents([rest], { answers: [answer, answerToLater] }), [rest]);
    assert.deepEqual(mergeIntents([rest], { settle: [rest] }), []);
    const fourth = createIntent('n1', { recordedAtMs: NOW_MS + 20 });
    assert.deepEqual(mergeIntents([joined], { record: [fourth] }), [
      { ...fourth, earlier: { recordedAtMs: NOW_MS + 19.5, startsByMs: NOW_MS + 9 + RUN_MAX_MS } },
    ]);
    assert.deepEqual(mergeIntents([rest], { record: [fourth] }), [{ ...fourth, earlier }]);
  });

  it('can tell two requests of one name apart although the clock stood still (spec faults 14)', () => {
    const stamped = { ...first, recordedAtMs: NOW_MS + 1 };
    assert.deepEqual(stampIntents([first], [first, removal]), [stamped, removal]);
    assert.deepEqual(stampIntents([again], [first]), [{ ...first, recordedAtMs: NOW_MS + 2 }]);
    assert.deepEqual(stampIntents([first], [again]), [again]);
    const later = { ...first, recordedAtMs: NOW_MS + 9 };
    assert.deepEqual(stampIntents([first], [later]), [later]);
    // A record is of a whole millisecond, whatever several before it stand under.
    const several = { ...first, recordedAtMs: NOW_MS + 8.5 };
    assert.deepEqual(stampIntents([several], [first]), [later]);
  });

  it('puts answers on the record that is there, and makes none', () => {
    assert.deepEqual(mergeIntents([first], { answers: [answer] }), [answered]);
    assert.deepEqual(mergeIntents([], { answers: [answer] }), []);
    assert.deepEqual(mergeIntents([removal], { answers: [{ kind: 'deleted', uid: victim.uid }] }), [
      { ...removal, isAccepted: true },
    ]);
  });

  it('keep a later request open that the answer to an earlier one does not concern (rows 21, 86)', () => {
    assert.deepEqual(mergeIntents([outran], { answers: [answer] }), [outran]);
    assert.deepEqual(mergeIntents([again], { answers: [answer] }), [again]);
    const late = { ...answer, recordedAtMs: NOW_MS + 9 };
    assert.deepEqual(mergeIntents([first], { answers: [late] }), [answered]);
  });

  it('keeps the newer of two answers', () => {
    const newer = { ...answer, uid: uid('later'), resourceVersion: version('100') };
    const [kept] = mergeIntents([first], { answers: [newer, answer] });
    assert.deepEqual(kept, {
      ...first,
      answer: { uid: 'later', resourceVersion: '100' },
    });
  });

  it('prefers the accepted of two deletes of one time, then the newer version', () => {
    const accepted = { ...removal, isAccepted: true };
    const newer = { ...removal, resourceVersion: version('61') };
    assert.deepEqual(mergeIntents([accepted], { record: [removal] }), [accepted]);
    assert.deepEqual(mergeIntents([newer], { record: [removal] }), [newer]);
  });

  it('withdraws only what no earlier run had left open', () => {
    assert.deepEqual(withdrawableIntents({ neverSent: [again, removal], before: [first] }), [
      removal,
    ]);
  });
});

describe('marks of own writes (protocol 3)', () => {
  it('rise, per type, and are voided by a new era', () => {
    const written = noteWritten(
      { era: 1 },
      { era: 1, type: 'pods', resourceVersion: version('9') },
    );
    assert.deepEqual(written, { era: 1, pods: '9' });
    const more = { era: 1, type: 'pods', resourceVersion: version('8') } as const;
    assert.deepEqual(noteWritten(written, more), written);
    const other = { era: 2, type: 'daemonSet', resourceVersion: version('3') } as const;
    assert.deepEqual(noteWritten(written, other), { era: 2, daemonSet: '3' });
    assert.equal(rebaseWrittenMarks(written, 1), written);
  });

  it('never block by a version that cannot be compared (spec 2.3 step 1)', () => {
    const odd = 'abc' as ResourceVersion;
    assert.deepEqual(noteWritten({ era: 1 }, { era: 1, type: 'pods', resourceVersion: odd }), {
      era: 1,
    });
    assert.equal(hasUnseenWrites({ written: { era: 1, pods: odd }, marks: {}, era: 1 }), false);
  });

  const unseen: readonly [string, Parameters<typeof hasUnseenWrites>[0], boolean][] = [
    ['nothing written', { written: { era: 1 }, marks: {}, era: 1 }, false],
    ['no mark yet', { written: { era: 1, pods: version('9') }, marks: {}, era: 1 }, true],
    [
      'a mark behind',
      { written: { era: 1, pods: version('9') }, marks: { Pod: version('8') }, era: 1 },
      true,
    ],
    [
      'a mark that has reached it',
      { written: { era: 1, pods: version('9') }, marks: { Pod: version('9') }, era: 1 },
      false,
    ],
    ['another era', { written: { era: 1, pods: version('9') }, marks: {}, era: 2 }, false],
    [
      'a status not seen',
      { written: { era: 1, daemonSet: version('9') }, marks: {}, era: 1 },
      true,
    ],
    [
      'a status seen in the object itself',
      {
        written: { era: 1, daemonSet: version('9') },
        marks: {},
        era: 1,
        daemonSetVersion: version('9'),
      },
      false,
    ],
    [
      'a revision not seen',
      { written: { era: 1, revisions: version('9') }, marks: {}, era: 1 },
      true,
    ],
  ];
  for (const [title, input, expected] of unseen) {
    it(`${expected ? 'are unseen' : 'block nothing'}: ${title}`, () => {
      assert.equal(hasUnseenWrites(input), expected);
    });
  }
});

describe('rebaseState (protocol 14)', () => {
  it('drops what the old era answered, and keeps what may still happen', () => {
    const open = createIntent('n1');
    const answered = createIntent('n2', { name: slot('n2'), answer: answerOf(slot('n2')) });
    const removal = deleteIntent(pod('n3'));
    const accepted = deleteIntent(pod('n4'), { isAccepted: true });
    const outran = createIntent('n5', { name: slot('n5'), ...outrun(NOW_MS - 5) });
    const before = state({
      intents: [open, answered, removal, accepted, { ...outran, answer: answerOf('x') }],
      written: { era: 1, pods: version('9') },
    });
    assert.equal(rebaseState(before, 1, NOW_MS), before);
    const rebased = rebaseState(before, 2, NOW_MS);
    const rest = createIntent('n5', { name: slot('n5'), recordedAtMs: NOW_MS - 5 });
    assert.deepEqual(rebased.intents, [open, removal, rest]);
    assert.deepEqual(rebased.written, { era: 2 });
  });

  it('drops the current revision: generations are given out again', () => {
    const history = {
      generation: 4,
      template: 't',
      uid: uid('r'),
      name: 'r',
      hash: 'h',
      lookedUpAt: ZERO_STAMP,
    };
    const before = state({ history, written: { era: 1 } });
    assert.equal(rebaseState(before, 1, NOW_MS).history, history);
    assert.equal('history' in rebaseState(before, 2, NOW_MS), false);
  });
});
