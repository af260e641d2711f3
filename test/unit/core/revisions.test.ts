/** History as far as created pods need it (spec 2.10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../../src/core/model/json.ts';
import type { KubernetesObject } from '../../../src/core/model/kubernetes.ts';
import {
  buildRevision,
  findMatchingRevision,
  nextRevisionNumber,
  revisionData,
  revisionHash,
  revisionHashOf,
} from '../../../src/core/revisions.ts';
import { OWNER_UID, daemonSet } from '../../support/core-fixtures.ts';

const set = daemonSet();

function stored(options: {
  readonly name: string;
  readonly revision?: number | undefined;
  readonly data?: JsonObject;
  readonly metadata?: JsonObject;
}): KubernetesObject {
  return {
    metadata: {
      name: options.name,
      namespace: 'ns',
      uid: options.name,
      resourceVersion: '1',
      labels: { app: 'agent', 'controller-revision-hash': `hash-${options.name}` },
      ownerReferences: [{ uid: OWNER_UID, controller: true }],
      ...options.metadata,
    },
    data: options.data ?? revisionData(set),
    ...('revision' in options ? { revision: options.revision } : {}),
  } as unknown as KubernetesObject; // raw JSON of the shape above
}

const nameOf = (revisions: readonly KubernetesObject[]): string | undefined =>
  findMatchingRevision(set, revisions)?.metadata.name;

describe('revisionData (spec 2.10, patch format)', () => {
  it('holds the whole template and the directive, nothing else of the spec', () => {
    assert.deepEqual(revisionData(set), {
      spec: { template: { ...set.spec.template, $patch: 'replace' } },
    });
  });
});

describe('findMatchingRevision', () => {
  it('matches by meaning: key order and nulls do not matter (#78633)', () => {
    const data = {
      spec: {
        template: {
          $patch: 'replace',
          spec: { containers: [{ image: 'agent:1', name: 'main', resources: null }] },
          metadata: { creationTimestamp: null, labels: { app: 'agent' } },
        },
      },
    };
    assert.equal(nameOf([stored({ name: 'a', revision: 1, data })]), 'a');
  });

  it('keeps the places of nulls in lists', () => {
    const args = (list: readonly unknown[]): JsonObject => {
      return revisionData(daemonSet({ podSpec: { args: list } }));
    };
    const holder = daemonSet({ podSpec: { args: [null, 'a'] } });
    const same = stored({ name: 'a', revision: 1, data: args([null, 'a']) });
    const other = stored({ name: 'b', revision: 2, data: args(['a']) });
    assert.equal(findMatchingRevision(holder, [same, other])?.metadata.name, 'a');
  });

  it('does not match another template, nor data that is missing', () => {
    const other = daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:2' }] } });
    assert.equal(
      nameOf([stored({ name: 'a', revision: 1, data: revisionData(other) })]),
      undefined,
    );
    const { data: _none, ...empty } = stored({ name: 'b', revision: 1 });
    assert.equal(nameOf([empty]), undefined);
  });

  it('takes the highest revision, whatever the order; on ties the last by name', () => {
    const low = stored({ name: 'low', revision: 2 });
    const high = stored({ name: 'high', revision: 10 });
    const twin = stored({ name: 'hight', revision: 10 });
    const none = stored({ name: 'none' });
    assert.equal(nameOf([low, high, none]), 'high');
    assert.equal(nameOf([none, high, low]), 'high');
    assert.equal(nameOf([twin, high]), 'hight');
    assert.equal(nameOf([high, twin]), 'hight');
  });

  const foreign: readonly [string, JsonObject][] = [
    ['of another owner', { ownerReferences: [{ uid: 'other', controller: true }] }],
    ['an orphan of another namespace', { ownerReferences: [], namespace: 'other' }],
    ['an orphan being deleted', { ownerReferences: [], deletionTimestamp: 'now' }],
    ['an orphan that does not match', { ownerReferences: [], labels: { app: 'other' } }],
    ['an orphan without labels', { ownerReferences: [], labels: undefined }],
  ];
  for (const [title, metadata] of foreign) {
    it(`does not see one ${title} (S10)`, () => {
      assert.equal(nameOf([stored({ name: 'a', revision: 1, metadata })]), undefined);
    });
  }

  it('sees an orphan that may be adopted', () => {
    const metadata = { ownerReferences: [] };
    assert.equal(nameOf([stored({ name: 'a', revision: 1, metadata })]), 'a');
  });
});

describe('revisionHashOf', () => {
  it('reuses the label, or the name where there is none', () => {
    assert.equal(revisionHashOf(stored({ name: 'a' })), 'hash-a');
    assert.equal(revisionHashOf(stored({ name: 'a', metadata: { labels: undefined } })), 'a');
  });
});

describe('a new revision', () => {
  it('gets the next number', () => {
    assert.equal(nextRevisionNumber(set, []), 1);
    const revisions = [stored({ name: 'a', revision: 4 }), stored({ name: 'b' })];
    assert.equal(nextRevisionNumber(set, revisions), 5);
  });

  it('gets a hash that depends on template and collision count alone', () => {
    assert.match(revisionHash(set, 0), /^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
    assert.equal(revisionHash(set, 0), revisionHash(daemonSet({ status: { x: 1 } }), 0));
    assert.notEqual(revisionHash(set, 0), revisionHash(set, 1));
    assert.notEqual(revisionHash(set, 0), revisionHash(daemonSet({ podSpec: {} }), 0));
  });

  it('has exactly this shape', () => {
    const annotated = daemonSet({ metadata: { annotations: { note: 'x' } } });
    assert.deepEqual(buildRevision(annotated, { hash: 'hhh', revision: 3 }), {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: 'agent-hhh',
        namespace: 'ns',
        labels: { app: 'agent', 'controller-revision-hash': 'hhh' },
        annotations: { note: 'x' },
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
      },
      data: revisionData(annotated),
      revision: 3,
    });
  });

  it('matches its own DaemonSet again, also from a long name without namespace', () => {
    const long = daemonSet({ name: 'n'.repeat(253), metadata: { namespace: undefined } });
    const built = buildRevision(long, { hash: 'hhh', revision: 1 }) as unknown as KubernetesObject;
    assert.equal(built.metadata.name.length, 227);
    assert.equal(findMatchingRevision(long, [built]), built);
  });
});
