/** Merging intents: commutative by identity, idempotent (design 3.6, protocol 4). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeIntents } from '../../../../src/core/intents/intents.ts';
import { intentIdentity, mergeIntents } from '../../../../src/core/intents/merge-intents.ts';
import type { IntentAnswer } from '../../../../src/core/intents/merge-intents.ts';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { intents, podSets } from '../../../support/core-arbitraries.ts';
import { NOW_MS, TIMEOUT_MS } from '../../../support/core-fixtures.ts';

const lists = fc.array(intents, { maxLength: 6 });
/** As a run judges them: each record once. */
const judged = fc.uniqueArray(intents, { maxLength: 6, selector: intentIdentity });

test('records of two runs merge to the same, in either order, and once or twice', () => {
  fc.assert(
    fc.property(lists, lists, lists, (stored, first, second) => {
      const base = mergeIntents([], { record: stored });
      const left = mergeIntents(mergeIntents(base, { record: first }), { record: second });
      const right = mergeIntents(mergeIntents(base, { record: second }), { record: first });
      assert.deepEqual(left, right);
      assert.deepEqual(mergeIntents(left, { record: second }), left);
      assert.equal(new Set(left.map(intentIdentity)).size, left.length);
    }),
    { numRuns: 300 },
  );
});

test('settling twice, or what is not there, changes nothing more, and no later record goes', () => {
  fc.assert(
    fc.property(lists, judged, (stored, settle) => {
      const base = mergeIntents([], { record: stored });
      const once = mergeIntents(base, { settle });
      assert.deepEqual(mergeIntents(once, { settle }), once);
      const settledAt = new Map<string, number>();
      for (const intent of settle) {
        const identity = intentIdentity(intent);
        settledAt.set(identity, Math.max(intent.recordedAtMs, settledAt.get(identity) ?? 0));
      }
      for (const intent of base) {
        const isKept = once.some((kept) => intentIdentity(kept) === intentIdentity(intent));
        const atMs = settledAt.get(intentIdentity(intent));
        if (!isKept) assert.ok(atMs !== undefined && atMs >= intent.recordedAtMs);
      }
    }),
    { numRuns: 300 },
  );
});

test('answers are idempotent and never make or drop an intent', () => {
  fc.assert(
    fc.property(lists, lists, (stored, answered) => {
      const base = mergeIntents([], { record: stored });
      const answers = answered.flatMap((intent): IntentAnswer[] => {
        if (intent.kind === 'delete') return [{ kind: 'deleted', uid: intent.uid }];
        const { answer, name, recordedAtMs } = intent;
        return answer === undefined ? [] : [{ kind: 'created', name, recordedAtMs, ...answer }];
      });
      const once = mergeIntents(base, { answers });
      assert.deepEqual(mergeIntents(once, { answers }), once);
      assert.deepEqual(once.map(intentIdentity), base.map(intentIdentity));
      assert.deepEqual(mergeIntents(base, { answers: answers.toReversed() }), once);
    }),
    { numRuns: 300 },
  );
});

test('a judgement puts every intent in exactly one list, and never the unanswered by a mark', () => {
  fc.assert(
    fc.property(lists, podSets, fc.boolean(), (list, pods, isFarMark) => {
      const judgement = judgeIntents({
        state: { intents: list, written: { era: 1 } },
        pods,
        marks: isFarMark ? { Pod: resourceVersion('999999') } : {},
        era: 1,
        nowMs: NOW_MS,
        requestTimeoutMs: TIMEOUT_MS,
      });
      const { unseen, unresolved, settled } = judgement;
      assert.equal(unseen.length + unresolved.length + settled.length, list.length);
      for (const intent of settled) {
        if (intent.kind === 'create' && intent.answer === undefined) {
          assert.ok(NOW_MS - intent.startsByMs >= 2 * TIMEOUT_MS);
        }
      }
    }),
    { numRuns: 300 },
  );
});
