/** What mode, rival and freeze forbid, and in copilot what a DaemonSet does not ask for. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import { guardOfSubject } from '../../../../src/core/may-act/registration-guard.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { registrationOf } from '../../../support/simulation/registration.ts';

const OPTED = daemonSet({
  spec: { updateStrategy: { type: 'OnDelete' } },
  metadata: { annotations: { 'rollcall.dev/rollout': 'soak: 1m' } },
});
const RIVAL = { rival: { seenAtMs: 1, evidence: 'a status' } };

const guard = (change: Partial<ClusterRegistration>, set = OPTED): string => {
  const judged = guardOfSubject({ ...registrationOf(clusterUid('a')), ...change }, set);
  return judged.kind === 'act' ? 'act' : `${judged.kind} ${judged.code}`;
};

describe('the guard of a registration', () => {
  for (const [title, change, expected] of [
    ['acts in takeover', { mode: 'takeover' }, 'act'],
    ['observes in observe', { mode: 'observe', isFrozen: true }, 'observe observe-mode'],
    [
      'stops for a rival in takeover',
      { mode: 'takeover', ...RIVAL },
      'observe conflicting-controller',
    ],
    [
      'keeps the status of a frozen takeover',
      { mode: 'takeover', isFrozen: true },
      'status-only frozen',
    ],
    ['acts in copilot, where another controller is expected', { mode: 'copilot', ...RIVAL }, 'act'],
    [
      'has no status to keep in a frozen copilot',
      { mode: 'copilot', isFrozen: true },
      'observe frozen',
    ],
  ] as const) {
    it(title, () => {
      assert.equal(guard(change), expected);
    });
  }

  it('only observes in copilot what does not opt in, and asks nobody to opt in elsewhere', () => {
    assert.equal(guard({ mode: 'copilot' }, daemonSet()), 'observe not-opted-in');
    assert.equal(guard({ mode: 'takeover' }, daemonSet()), 'act');
    const rolling = daemonSet({ metadata: { ...OPTED.metadata } as never });
    assert.equal(guard({ mode: 'copilot' }, rolling), 'observe rolling-update');
    assert.equal(guard({ mode: 'copilot', isFrozen: true }, daemonSet()), 'observe frozen');
  });
});

describe('the freeze of the stack', () => {
  const note = { by: 'ann', why: 'bad kernel', atMs: 1 };
  const told = (
    change: Partial<ClusterRegistration>,
    ofStack: Parameters<typeof guardOfSubject>[2],
  ): string => {
    const registration = { ...registrationOf(clusterUid('a')), ...change };
    const judged = guardOfSubject(registration, OPTED, ofStack);
    return judged.kind === 'act' ? 'act' : `${judged.kind}: ${judged.message}`;
  };

  it('stops each mode as a frozen cluster stops, and says who and why', () => {
    const stack = { scope: 'stack', note } as const;
    assert.equal(
      told({ mode: 'takeover' }, stack),
      'status-only: The whole stack is frozen by ann (bad kernel); only its status is kept up to date.',
    );
    assert.equal(
      told({ mode: 'copilot' }, stack),
      'observe: The whole stack is frozen by ann (bad kernel); nothing is changed in it.',
    );
    assert.match(told({ mode: 'observe' }, stack), /only observed/);
    assert.match(told({ mode: 'takeover', ...RIVAL }, stack), /Another controller/);
  });

  it('is told as the widest that holds', () => {
    const ofSet = { scope: 'daemon-set', note } as const;
    const ownNote = { by: 'bob', why: '', atMs: 2 };
    const frozen = { isFrozen: true, frozen: ownNote };
    assert.match(told(frozen, ofSet), /The cluster is frozen by bob;/);
    assert.match(told(frozen, { scope: 'stack', note }), /The whole stack is frozen by ann/);
    assert.match(told({}, ofSet), /The DaemonSet is frozen by ann/);
    assert.match(told({ frozen: ownNote }, undefined), /act/, 'a note alone freezes nothing');
  });
});
