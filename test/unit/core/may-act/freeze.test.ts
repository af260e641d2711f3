/** What is frozen, by whom, and what a thaw of one scope leaves (issue 18). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FROZEN_DAEMON_SETS_MAX,
  NO_FREEZE,
  describeFreeze,
  freezeNote,
  freezeOf,
  noteOfScope,
  standingFreeze,
  withFreeze,
  withoutFreeze,
} from '../../../../src/core/may-act/freeze.ts';
import type { Freeze, StackScope } from '../../../../src/core/may-act/freeze.ts';

const ANN = { by: 'ann', why: 'bad kernel', atMs: 1 };
const BOB = { by: 'bob', why: '', atMs: 2 };
const STACK: StackScope = { kind: 'stack' };
const DNS: StackScope = { kind: 'daemon-set', namespace: 'kube-system', name: 'dns' };
const LOGS = { namespace: 'logs', name: 'agent' };

function froze(freeze: Freeze, scope: StackScope, note = ANN): Freeze {
  const next = withFreeze(freeze, scope, note);
  assert.ok(next !== 'full');
  return next;
}

describe('a freeze', () => {
  it('of the stack is of every DaemonSet, one by name is of that name alone', () => {
    const all = froze(NO_FREEZE, STACK);
    assert.deepEqual(standingFreeze(all, LOGS), { scope: 'stack', note: ANN });
    const dns = froze(NO_FREEZE, DNS);
    assert.deepEqual(standingFreeze(dns, DNS), { scope: 'daemon-set', note: ANN });
    assert.equal(standingFreeze(dns, LOGS), undefined);
    assert.equal(freezeOf(dns, { namespace: 'logs', name: 'dns' }), undefined);
    // A name that objects have from their prototype is none.
    assert.equal(freezeOf(dns, { namespace: '__proto__', name: 'x' }), undefined);
  });

  it('is one, however often it is given, and keeps who was first', () => {
    const all = froze(NO_FREEZE, STACK);
    assert.equal(froze(all, STACK, BOB), all);
    const dns = froze(NO_FREEZE, DNS);
    assert.equal(froze(dns, DNS, BOB), dns);
  });

  it('is thawed by its own scope alone', () => {
    const both = froze(froze(NO_FREEZE, STACK), DNS, BOB);
    const lifted = withoutFreeze(both, STACK);
    assert.deepEqual(standingFreeze(lifted, DNS), { scope: 'daemon-set', note: BOB });
    assert.equal(standingFreeze(lifted, LOGS), undefined);
    assert.deepEqual(standingFreeze(withoutFreeze(both, DNS), DNS), { scope: 'stack', note: ANN });
    assert.equal(withoutFreeze(lifted, STACK), lifted, 'it was thawed before');
    assert.deepEqual(withoutFreeze(lifted, DNS), NO_FREEZE);
    assert.equal(noteOfScope(both, DNS), BOB);
    assert.equal(noteOfScope(lifted, STACK), undefined);
  });

  it('names a hundred DaemonSets at most, and says when it is full', () => {
    let freeze = NO_FREEZE;
    for (let index = 0; index < FROZEN_DAEMON_SETS_MAX; index += 1) {
      freeze = froze(freeze, { kind: 'daemon-set', namespace: 'ns', name: `set-${String(index)}` });
    }
    assert.equal(withFreeze(freeze, DNS, ANN), 'full');
    const first = { kind: 'daemon-set', namespace: 'ns', name: 'set-0' } as const;
    assert.equal(withFreeze(freeze, first, BOB), freeze, 'what is frozen stays so');
    assert.notEqual(withFreeze(freeze, STACK, ANN), 'full');
  });

  it('has a note that fits, whatever the person is called', () => {
    const note = freezeNote({ by: `a\n${'b'.repeat(300)}`, why: 'w'.repeat(300), atMs: 3 });
    assert.deepEqual(note, { by: `a ${'b'.repeat(218)}`, why: 'w'.repeat(256), atMs: 3 });
  });

  it('says of what, by whom, and why, as far as anybody noted it', () => {
    assert.equal(
      describeFreeze({ scope: 'stack', note: ANN }),
      'The whole stack is frozen by ann (bad kernel)',
    );
    assert.equal(
      describeFreeze({ scope: 'daemon-set', note: BOB }),
      'The DaemonSet is frozen by bob',
    );
    assert.equal(describeFreeze({ scope: 'cluster' }), 'The cluster is frozen');
  });
});
