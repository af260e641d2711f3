/** Owner references and the patches that move them (spec 2.4, S4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildAdoptPatch,
  buildReleasePatch,
  claimOf,
  controllerUidOf,
  type Claim,
  type Claimant,
} from '../../../../src/core/pod/owner.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { OWNER_UID, daemonSet, namedPod, revision } from '../../../support/core-fixtures.ts';
import type { PodOptions } from '../../../support/core-fixtures.ts';

describe('patches', () => {
  it('adopt by adding our reference, with the UID of the pod as precondition', () => {
    assert.deepEqual(buildAdoptPatch(daemonSet(), namedPod('n1', 'p', { ownerUid: null })), {
      kind: 'patch',
      resource: 'pods',
      namespace: 'ns',
      name: 'p',
      uid: 'pod-p',
      purpose: 'adopt',
      contentType: 'application/strategic-merge-patch+json',
      body: {
        metadata: {
          ownerReferences: [
            {
              apiVersion: 'apps/v1',
              kind: 'DaemonSet',
              name: 'agent',
              uid: OWNER_UID,
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
          uid: 'pod-p',
        },
      },
    });
  });

  it('release by removing our reference by UID', () => {
    const patch = buildReleasePatch(daemonSet(), revision(3));
    assert.equal(patch.resource, 'controllerrevisions');
    assert.equal(patch.purpose, 'release');
    assert.deepEqual(patch.body, {
      metadata: { ownerReferences: [{ $patch: 'delete', uid: OWNER_UID }], uid: 'revision-3' },
    });
  });
});

describe('controllerUidOf', () => {
  it('reads the controlling reference only', () => {
    const reference = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' };
    const metadata = { name: 'o', uid: 'o', resourceVersion: '1' };
    const object = (ownerReferences?: readonly object[]): KubernetesObject =>
      ({
        metadata: { ...metadata, ...(ownerReferences && { ownerReferences }) },
      }) as KubernetesObject;
    assert.equal(controllerUidOf(object()), undefined);
    assert.equal(controllerUidOf(object([reference])), undefined);
    assert.equal(
      controllerUidOf(object([reference, { ...reference, uid: 'y', controller: true }])),
      'y',
    );
  });
});

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

describe('claimOf (spec 2.4)', () => {
  const rows: readonly [string, Claimant, PodOptions, Claim][] = [
    ['controlled by someone else', claimant, { ownerUid: uid('other') }, 'ignore'],
    ['ours and matching', claimant, {}, 'keep'],
    ['ours and matching, DaemonSet being deleted', deleting, {}, 'keep'],
    ['ours, not matching', claimant, other, 'release'],
    ['ours, not matching, DaemonSet being deleted', deleting, other, 'keep'],
    ['ours, selector malformed', malformed, {}, 'keep'],
    ['ours, terminating', claimant, { isTerminating: true }, 'keep'],
    [
      'of another namespace, by an owner that it made up',
      claimant,
      { namespace: 'other' },
      'ignore',
    ],
    ['an orphan that matches', claimant, orphan, 'adopt'],
    ['an orphan, DaemonSet being deleted', deleting, orphan, 'ignore'],
    ['an orphan that does not match', claimant, { ...orphan, ...other }, 'ignore'],
    ['an orphan that is terminating', claimant, { ...orphan, isTerminating: true }, 'ignore'],
    ['an orphan of another namespace', claimant, { ...orphan, namespace: 'other' }, 'ignore'],
    ['an orphan, selector malformed', malformed, orphan, 'ignore'],
  ];
  for (const [title, by, options, expected] of rows) {
    it(`${expected}: ${title}`, () => {
      assert.equal(claimOf(by, namedPod('n1', 'p', options)), expected);
    });
  }
});
