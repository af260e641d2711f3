/** Owner references and the patches that move them (spec 2.4, S4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildAdoptPatch,
  buildReleasePatch,
  controllerUidOf,
} from '../../../../src/core/pod/owner.ts';
import { OWNER_UID, daemonSet, namedPod, revision } from '../../../support/core-fixtures.ts';

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
