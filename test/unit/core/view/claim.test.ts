/** Claiming pods (spec 2.4), row by row. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimPod, claimPods } from '../../../../src/core/view/claim.ts';
import type { Claim, Claimant } from '../../../../src/core/view/claim.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { OWNER_UID, namedPod } from '../../../support/core-fixtures.ts';
import type { PodOptions } from '../../../support/core-fixtures.ts';

const claimant: Claimant = {
  uid: OWNER_UID,
  namespace: 'ns',
  selector: compileSelector({ matchLabels: { app: 'agent' } }),
  isDeleting: false,
};
const deleting: Claimant = { ...claimant, isDeleting: true };
const malformed: Claimant = { ...claimant, selector: compileSelector({}) };
const other = { labels: { app: 'other' } };
const orphan = { ownerUid: null };

describe('claimPod (spec 2.4)', () => {
  const rows: readonly [string, Claimant, PodOptions, Claim][] = [
    ['controlled by someone else', claimant, { ownerUid: uid('other') }, 'ignore'],
    ['ours and matching', claimant, {}, 'keep'],
    ['ours and matching, DaemonSet being deleted', deleting, {}, 'keep'],
    ['ours, not matching', claimant, other, 'release'],
    ['ours, not matching, DaemonSet being deleted', deleting, other, 'keep'],
    ['ours, selector malformed', malformed, {}, 'keep'],
    ['ours, terminating', claimant, { isTerminating: true }, 'keep'],
    ['an orphan that matches', claimant, orphan, 'adopt'],
    ['an orphan, DaemonSet being deleted', deleting, orphan, 'ignore'],
    ['an orphan that does not match', claimant, { ...orphan, ...other }, 'ignore'],
    ['an orphan that is terminating', claimant, { ...orphan, isTerminating: true }, 'ignore'],
    ['an orphan of another namespace', claimant, { ...orphan, namespace: 'other' }, 'ignore'],
    ['an orphan, selector malformed', malformed, orphan, 'ignore'],
  ];
  for (const [title, by, options, expected] of rows) {
    it(`${expected}: ${title}`, () => {
      assert.equal(claimPod(by, namedPod('n1', 'p', options)), expected);
    });
  }
});

describe('claimPods', () => {
  it('sorts pods by their claim and leaves out the ignored', () => {
    const kept = namedPod('n1', 'kept');
    const adopted = namedPod('n1', 'adopted', orphan);
    const released = namedPod('n1', 'released', other);
    const foreign = namedPod('n1', 'foreign', { ownerUid: uid('other') });
    assert.deepEqual(claimPods(claimant, [foreign, released, adopted, kept]), {
      kept: [kept],
      toAdopt: [adopted],
      toRelease: [released],
    });
  });
});
