/**
 * What is told of a shrink: what goes, why, by whom, and how to let it.
 */
import assert from 'node:assert/strict';
import { describe as suite, it } from 'node:test';
import { describe, removalEvent } from '../../../../src/core/removal-guard/removal-events.ts';
import type { RemovalNotice, RemovalSuspect } from '../../../../src/core/model/plan.ts';
import type { HeldRemoval } from '../../../../src/core/model/state.ts';

const HELD: HeldRemoval = {
  token: 'a1b2c3',
  heldAtMs: 0,
  pods: 50,
  basePods: 60,
  cause: 'n1, n2, n3 and 47 more are a node that lacks the label pool=x that the template demands',
};
const SUSPECT: RemovalSuspect = { kind: 'daemon-set' };
const AUTHOR = { manager: 'kubectl-label', atMs: Date.UTC(2026, 10, 25, 12, 0, 0) };

function event(notice: RemovalNotice, author?: typeof AUTHOR): ReturnType<typeof removalEvent> {
  return removalEvent(notice, { namespace: 'kube-system', name: 'cni', author });
}

suite('the Event of a shrink', () => {
  it('says that it is held, its cause and its author, and the command that lets it', () => {
    assert.deepEqual(event({ kind: 'held', held: HELD, suspect: SUSPECT }, AUTHOR), {
      type: 'Warning',
      reason: 'RemovalHeld',
      message:
        `Held: 50 of 60 pods go within ten minutes: ${HELD.cause}; last written by kubectl-label at 2026-11-25T12:00:00.000Z. ` +
        'Take the change back, or confirm it: kubectl annotate daemonset --overwrite -n kube-system cni rollcall.dev/confirm-removal=a1b2c3',
    });
  });

  it('says where nothing can be held that it only tells', () => {
    assert.deepEqual(event({ kind: 'alarmed', held: HELD, suspect: SUSPECT }), {
      type: 'Warning',
      reason: 'RemovalSeen',
      message: `50 of 60 pods go within ten minutes: ${HELD.cause}. Rollcall does not act here and cannot hold it.`,
    });
  });

  it('is none of what was confirmed, or ended by itself', () => {
    assert.equal(event({ kind: 'confirmed', held: HELD }), undefined);
    assert.equal(event({ kind: 'ended', held: HELD }), undefined);
  });

  it('has the length that an Event may have, whatever the parts are', () => {
    const held = { ...HELD, cause: 'x'.repeat(2_000) };
    assert.equal(event({ kind: 'held', held, suspect: SUSPECT })?.message.length, 1_024);
  });

  it('names nobody where nobody is known', () => {
    assert.equal(describe(HELD, undefined), `50 of 60 pods go within ten minutes: ${HELD.cause}`);
  });
});
