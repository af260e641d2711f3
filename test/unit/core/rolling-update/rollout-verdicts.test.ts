/** What a rolling update says about a node (spec 2.9): one sentence for each of its notes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RolloutNote } from '../../../../src/core/rolling-update/plan-rollout.ts';
import { describeRollout } from '../../../../src/core/rolling-update/rollout-verdicts.ts';
import type { RolloutFinding } from '../../../../src/core/rolling-update/rollout-verdicts.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const pod = 'old-p';
const name = 'new-p';
const HAS = 'has pod old-p of an older revision';

function say(note: RolloutNote, at: { isSent?: boolean; isWanted?: boolean } = {}): RolloutFinding {
  return describeRollout(note, { isSent: true, isWanted: true, ...at });
}

describe('a step', () => {
  const steps: readonly [RolloutNote, string][] = [
    [{ kind: 'creating', pod, name }, `${HAS}; pod new-p is being created beside it`],
    [
      { kind: 'deleting', pod, reason: 'outdated' },
      `${HAS}; it is being deleted to make room for its successor`,
    ],
    [
      { kind: 'deleting', pod, reason: 'replaced' },
      `${HAS}; it is being deleted because its successor is available`,
    ],
    [
      { kind: 'deleting', pod, reason: 'vacated' },
      `${HAS}; it is being deleted because no pod belongs there any more`,
    ],
  ];
  for (const [note, text] of steps) {
    it(`${text}: and what the burst cap leaves for later`, () => {
      assert.deepEqual(say(note), { code: 'Updating', pod, text });
      assert.deepEqual(say(note, { isSent: false }), {
        code: 'WaitingForBurst',
        pod,
        text: `${HAS}; it is updated after the present batch`,
      });
    });
  }
});

describe('a wait', () => {
  const waits: readonly [RolloutNote, RolloutFinding][] = [
    [
      { kind: 'surging', pod, name },
      {
        code: 'Updating',
        pod: name,
        text: 'has pod new-p of the current revision; pod old-p goes when that is available',
      },
    ],
    [
      { kind: 'held-up', pod, stray: 'lost' },
      {
        code: 'WaitingForRollout',
        pod,
        text:
          `${HAS}; the rolling update stands still until pod lost of a node that is gone ` +
          'has been collected (compat strict)',
      },
    ],
    [
      { kind: 'blocked', pod, wait: { code: 'Refused', message: 'quota', untilMs: NOW_MS } },
      { code: 'Refused', pod, untilMs: NOW_MS, text: `${HAS}, and waits: quota` },
    ],
    [
      { kind: 'withheld', untilMs: NOW_MS },
      {
        code: 'WaitingForCluster',
        untilMs: NOW_MS,
        text:
          'has an available pod of an older revision; it stays until requests that may have been ' +
          'forgotten are certainly dead',
      },
    ],
    [
      { kind: 'outdated', pod },
      { code: 'Outdated', pod, text: `${HAS}, which stays until it is deleted (OnDelete)` },
    ],
  ];
  for (const [note, finding] of waits) {
    it(finding.text, () => assert.deepEqual(say(note), finding));
  }

  const reasons = {
    unavailable: 'when maxUnavailable has room for another node',
    surge: 'when maxSurge has room for another node',
    supply: 'when enough pods of other nodes are available',
  } as const;
  for (const [what, until] of Object.entries(reasons)) {
    it(`${until}: replaced where a pod is wanted, gone where none is`, () => {
      const note: RolloutNote = { kind: 'waiting', pod, for: what as keyof typeof reasons };
      assert.equal(say(note).text, `${HAS}; it is replaced ${until}`);
      assert.equal(say(note, { isWanted: false }).text, `${HAS}; it goes ${until}`);
    });
  }
});
