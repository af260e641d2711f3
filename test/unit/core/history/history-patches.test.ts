/** The requests of history: merge patches with preconditions, so that data keep their bytes (spec 2.10, S4, S10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildHashRepair,
  buildPodRelabel,
  buildRenumbering,
  buildRevisionAdoption,
  buildRevisionDelete,
  buildRevisionRelease,
} from '../../../../src/core/history/history-patches.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { ownerReferenceOf } from '../../../../src/core/pod/owner.ts';
import { OWNER_UID, daemonSet } from '../../../support/core-fixtures.ts';
import { storedRevision } from '../../../support/stored-revision.ts';

const GENERATION = 'deprecated.daemonset.template.generation';
const marked = { annotations: { [GENERATION]: '5', note: 'x' } };
const set = daemonSet({ metadata: marked });
const helper = { apiVersion: 'v1', kind: 'Thing', name: 'helper', uid: 'helper' };
const common = {
  kind: 'patch',
  resource: 'controllerrevisions',
  namespace: 'ns',
  name: 'a',
  uid: 'uid-a',
  contentType: 'application/merge-patch+json',
};
const fence = { uid: 'uid-a', resourceVersion: '7' };

describe('patches of revisions', () => {
  it('adopt beside the references of others', () => {
    const orphan = storedRevision('a', { metadata: { ownerReferences: [helper], ...marked } });
    assert.deepEqual(buildRevisionAdoption(set, orphan, 'present-template'), {
      ...common,
      purpose: 'adopt',
      body: { metadata: { ...fence, ownerReferences: [helper, ownerReferenceOf(set)] } },
    });
  });

  it('adopt one of another template without its template generation: it is another DaemonSet’s', () => {
    const orphan = storedRevision('a', { metadata: { ownerReferences: undefined, ...marked } });
    const { body } = buildRevisionAdoption(set, orphan, 'other-template');
    const ownerReferences = [ownerReferenceOf(set)];
    const annotations = { [GENERATION]: null };
    assert.deepEqual(body, { metadata: { ...fence, ownerReferences, annotations } });
    const bare = storedRevision('a', { metadata: { ownerReferences: [] } });
    const plain = buildRevisionAdoption(set, bare, 'other-template');
    assert.deepEqual(plain.body, { metadata: { ...fence, ownerReferences } });
  });

  it('release, and leave the references of others', () => {
    const owned = storedRevision('a', {
      metadata: { ownerReferences: [{ uid: OWNER_UID }, helper] },
    });
    assert.deepEqual(buildRevisionRelease(set, owned), {
      ...common,
      purpose: 'release',
      body: { metadata: { ...fence, ownerReferences: [helper] } },
    });
  });

  it('repair a missing hash with the name', () => {
    const bare = storedRevision('a', { metadata: { labels: {} } });
    assert.deepEqual(buildHashRepair(bare), {
      ...common,
      purpose: 'relabel',
      body: { metadata: { ...fence, labels: { 'controller-revision-hash': 'a' } } },
    });
  });

  it('renumber, and renew the template generation', () => {
    assert.deepEqual(buildRenumbering(set, storedRevision('a', { metadata: marked }), 8), {
      ...common,
      purpose: 'renumber',
      body: { metadata: { ...fence, annotations: { [GENERATION]: '5' } }, revision: 8 },
    });
    const plain = buildRenumbering(daemonSet(), storedRevision('a'), 8);
    assert.deepEqual(plain.body, { metadata: fence, revision: 8 });
  });

  it('name an empty namespace where there is none', () => {
    const bare = storedRevision('a', { metadata: { namespace: undefined } });
    assert.equal(buildHashRepair(bare).namespace, '');
  });
});

describe('other requests', () => {
  it('delete a revision as it was read', () => {
    const { metadata } = storedRevision('a');
    const { name, uid: ownUid, resourceVersion } = metadata;
    assert.deepEqual(buildRevisionDelete({ namespace: 'ns', name, uid: ownUid, resourceVersion }), {
      kind: 'delete-revision',
      namespace: 'ns',
      name: 'a',
      uid: 'uid-a',
      resourceVersion: '7',
    });
  });

  it('relabel a pod by its UID', () => {
    assert.deepEqual(buildPodRelabel({ namespace: 'ns', name: 'p', uid: uid('u') }, 'kept'), {
      ...common,
      resource: 'pods',
      name: 'p',
      uid: 'u',
      purpose: 'relabel',
      body: { metadata: { uid: 'u', labels: { 'controller-revision-hash': 'kept' } } },
    });
  });
});
