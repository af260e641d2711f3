/** ControllerRevisions as objects (spec 2.10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holdsTemplate } from '../../../../src/core/history/history-match.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildRevision,
  compareRevisions,
  lacksHash,
  revisionData,
  revisionHash,
  revisionHashOf,
  revisionNumberOf,
} from '../../../../src/core/history/revisions.ts';
import { OWNER_UID, daemonSet } from '../../../support/core-fixtures.ts';

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

describe('revisionData (spec 2.10, patch format)', () => {
  it('holds the whole template and the directive, nothing else of the spec', () => {
    assert.deepEqual(revisionData(set), {
      spec: { template: { ...set.spec.template, $patch: 'replace' } },
    });
  });
});

describe('revisionHashOf', () => {
  it('reuses the label, or the name where there is none', () => {
    assert.equal(revisionHashOf(stored({ name: 'a' })), 'hash-a');
    const bare = stored({ name: 'a', metadata: { labels: undefined } });
    assert.equal(revisionHashOf(bare), 'a');
    assert.deepEqual([lacksHash(bare), lacksHash(stored({ name: 'a' }))], [true, false]);
  });

  it('hashes a name that no label can hold', () => {
    const metadata = { labels: { app: 'agent', 'controller-revision-hash': '' } };
    assert.equal(revisionHashOf(stored({ name: 'n'.repeat(63), metadata })), 'n'.repeat(63));
    const long = revisionHashOf(stored({ name: 'n'.repeat(64), metadata }));
    assert.match(long, /^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
    assert.notEqual(revisionHashOf(stored({ name: 'm'.repeat(64), metadata })), long);
  });
});

describe('the order of revisions', () => {
  it('is by number, then by name; one without a number is the first', () => {
    const [two, ten] = [stored({ name: 'z', revision: 2 }), stored({ name: 'a', revision: 10 })];
    const [twin, none] = [stored({ name: 'b', revision: 10 }), stored({ name: 'c' })];
    const sorted = [twin, ten, two, none].sort(compareRevisions);
    assert.deepEqual(sorted.map(revisionNumberOf), [0, 2, 10, 10]);
    assert.deepEqual(sorted.slice(2), [ten, twin]);
  });
});

describe('a new revision', () => {
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
    assert.deepEqual(Object.keys(built.metadata), ['name', 'labels', 'ownerReferences']);
    assert.equal(holdsTemplate(long, built), true);
  });
});
