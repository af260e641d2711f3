/** What becomes of an object when its owners are gone, waiting or alive. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OwnerState } from '../../../../src/controllers/garbage-collector/classify-owner.ts';
import { decideCollection } from '../../../../src/controllers/garbage-collector/decide-collection.ts';
import type { CollectionDecision } from '../../../../src/controllers/garbage-collector/decide-collection.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';

function decide(of: {
  readonly states: readonly OwnerState[];
  readonly finalizers?: readonly string[];
  readonly blocking?: boolean;
  readonly dependents?: 'none' | 'some' | 'waiting';
}): CollectionDecision {
  const { states, finalizers = [], blocking = true, dependents = 'none' } = of;
  const latest: ApiObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'x', uid: 'x', resourceVersion: '1', creationTimestamp: '', finalizers },
  };
  return decideCollection({
    latest,
    owners: states.map((state, index) => ({
      state,
      owner: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `owner-${index}`,
        uid: `owner-${index}`,
        blockOwnerDeletion: blocking,
      },
    })),
    hasDependents: dependents !== 'none',
    hasWaitingDependent: dependents === 'waiting',
  });
}

describe('what the garbage collector decides', () => {
  it('keeps an object without owners, and one whose owners all live', () => {
    assert.deepEqual(decide({ states: [] }), { kind: 'keep' });
    assert.deepEqual(decide({ states: ['solid', 'solid'] }), { kind: 'keep' });
  });

  it('drops references to absent and waiting owners while one lives', () => {
    assert.deepEqual(decide({ states: ['absent', 'solid', 'waiting'], dependents: 'some' }), {
      kind: 'drop-owners',
      uids: ['owner-0', 'owner-2'],
    });
  });

  it('deletes in the background without any living owner', () => {
    assert.deepEqual(decide({ states: ['absent', 'absent'], dependents: 'some' }), {
      kind: 'delete',
      propagation: 'Background',
      unblocksOwners: false,
    });
  });

  it('honours a finalizer that is there already', () => {
    for (const [finalizer, propagation] of [
      ['orphan', 'Orphan'],
      ['foregroundDeletion', 'Foreground'],
    ] as const) {
      assert.deepEqual(decide({ states: ['absent'], finalizers: [finalizer] }), {
        kind: 'delete',
        propagation,
        unblocksOwners: false,
      });
    }
  });

  it('deletes in the foreground what has dependents of its own under a waiting owner', () => {
    assert.deepEqual(decide({ states: ['waiting'] }), {
      kind: 'delete',
      propagation: 'Background',
      unblocksOwners: false,
    });
    assert.deepEqual(decide({ states: ['waiting', 'absent'], dependents: 'some' }), {
      kind: 'delete',
      propagation: 'Foreground',
      unblocksOwners: false,
    });
  });

  it('breaks a possible circle once, and not again when nothing blocks any more', () => {
    const unblocks = (blocking: boolean): boolean => {
      const decision = decide({ states: ['waiting'], dependents: 'waiting', blocking });
      assert(decision.kind === 'delete');
      return decision.unblocksOwners;
    };
    assert.equal(unblocks(true), true);
    assert.equal(unblocks(false), false);
  });
});
