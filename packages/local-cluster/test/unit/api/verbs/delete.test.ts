/** DELETE: grace, finalizers, propagation, preconditions, namespaces, collections. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createApiBench,
  MERGE,
  metadataOf,
  NAMESPACE,
  namesOf,
  POD,
} from '../../../support/api-bench.ts';
import type { ApiBench } from '../../../support/api-bench.ts';

const POD_PATH = `${NAMESPACE}/pods/p`;
const MAP_PATH = `${NAMESPACE}/configmaps/a`;

function bench(): ApiBench {
  const made = createApiBench();
  made.ask('POST', `${NAMESPACE}/pods`, { body: POD });
  made.ask('POST', `${NAMESPACE}/configmaps`, { body: { metadata: { name: 'a' } } });
  return made;
}

describe('delete', () => {
  it('lets a bound pod end in its grace, which may only shorten', async () => {
    const { ask, clock } = bench();
    const first = metadataOf(ask('DELETE', POD_PATH));
    assert.equal(first['deletionTimestamp'], '2026-01-01T00:00:30Z');
    assert.equal(first['deletionGracePeriodSeconds'], 30);
    assert.equal(first['generation'], 2);
    const longer = metadataOf(ask('DELETE', `${POD_PATH}?gracePeriodSeconds=60`));
    assert.equal(longer['resourceVersion'], first['resourceVersion']);
    await clock.advance(3000);
    const shorter = metadataOf(ask('DELETE', `${POD_PATH}?gracePeriodSeconds=10`));
    assert.equal(shorter['deletionTimestamp'], '2026-01-01T00:00:10Z');
    assert.equal(shorter['generation'], 2);
    assert.equal(
      metadataOf(ask('DELETE', `${POD_PATH}?gracePeriodSeconds=1`))['deletionTimestamp'],
      '2026-01-01T00:00:03Z',
    );
    assert.equal(ask('DELETE', `${POD_PATH}?gracePeriodSeconds=0`).status, 200);
    assert.equal(ask('GET', POD_PATH).status, 404);
  });

  it('shows watchers the end of the grace before the end', async () => {
    const { ask, watch, clock } = bench();
    const { frames, summary } = watch(`${NAMESPACE}/pods?watch=1`);
    ask('DELETE', `${POD_PATH}?gracePeriodSeconds=0`);
    await clock.advance(0);
    assert.deepEqual(summary().slice(-2), ['MODIFIED p', 'DELETED p']);
    const versions = frames.map(({ object }) =>
      Number((object['metadata'] as { resourceVersion: string }).resourceVersion),
    );
    assert.deepEqual(
      versions,
      versions.toSorted((left, right) => left - right),
    );
  });

  it('answers with a Success for most resources, with the object for pods', () => {
    const { ask } = bench();
    const uid = metadataOf(ask('GET', MAP_PATH))['uid'];
    const { body } = ask('DELETE', MAP_PATH);
    assert.deepEqual(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid },
    });
    assert.equal(ask('DELETE', `${POD_PATH}?gracePeriodSeconds=0`).body['kind'], 'Pod');
  });

  it('waits for finalizers, and goes with the last one', () => {
    const { ask } = bench();
    const patch = (finalizers: readonly string[] | null): number =>
      ask('PATCH', MAP_PATH, { body: { metadata: { finalizers } }, contentType: MERGE }).status;
    patch(['a.b/c', 'd.e/f']);
    const going = metadataOf(ask('DELETE', MAP_PATH));
    assert.equal(going['deletionGracePeriodSeconds'], 0);
    assert.equal(patch(['a.b/c', 'd.e/f', 'new.x/y']), 422);
    assert.equal(patch(['a.b/c']), 200);
    assert.equal(ask('GET', MAP_PATH).status, 200);
    assert.equal(patch(null), 200);
    assert.equal(ask('GET', MAP_PATH).status, 404);
  });

  for (const [query, finalizer, status] of [
    ['propagationPolicy=Foreground', 'foregroundDeletion', 200],
    ['propagationPolicy=Orphan', 'orphan', 200],
  ] as const) {
    it(`leaves the object to the garbage collector for ${query}`, () => {
      const { ask } = bench();
      const answer = ask('DELETE', `${MAP_PATH}?${query}`);
      assert.equal(answer.status, status);
      assert.deepEqual(metadataOf(answer)['finalizers'], [finalizer]);
      assert.equal(ask('GET', MAP_PATH).status, 200);
    });
  }

  it('holds preconditions against the object', () => {
    const { ask } = bench();
    for (const preconditions of [{ uid: 'x' }, { resourceVersion: '1' }]) {
      const { status, body } = ask('DELETE', MAP_PATH, { body: { preconditions } });
      assert.equal(status, 409);
      assert.deepEqual(body['details'], { name: 'a', kind: 'ConfigMap' });
    }
    const { uid } = metadataOf(ask('GET', MAP_PATH));
    assert.equal(
      ask('DELETE', MAP_PATH, { body: { preconditions: { uid: uid as string } } }).status,
      200,
    );
  });

  for (const [what, body, status] of [
    ['an unknown policy', { propagationPolicy: 'Foo' }, 422],
    ['half a dry run', { dryRun: ['Some'] }, 422],
    ['a grace in words', { gracePeriodSeconds: 'x' }, 400],
    ['another kind', { kind: 'Pod', apiVersion: 'v1' }, 400],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.equal(bench().ask('DELETE', MAP_PATH, { body }).status, status);
    });
  }

  it('changes nothing in a dry run', () => {
    const { ask, store } = bench();
    const version = store.version();
    assert.equal(ask('DELETE', `${POD_PATH}?dryRun=All`).status, 200);
    assert.equal(ask('DELETE', `${MAP_PATH}?propagationPolicy=Orphan&dryRun=All`).status, 200);
    assert.equal(store.version(), version);
  });

  it('terminates a namespace until it is finalized, and never the default one', () => {
    const { ask } = createApiBench();
    assert.equal(ask('DELETE', '/api/v1/namespaces/default').status, 403);
    ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'x' } } });
    const going = ask('DELETE', '/api/v1/namespaces/x');
    assert.deepEqual(going.body['status'], { phase: 'Terminating' });
    assert.equal(metadataOf(going)['deletionGracePeriodSeconds'], undefined);
    assert.equal(ask('DELETE', '/api/v1/namespaces/x').status, 200);
    assert.equal(ask('GET', '/api/v1/namespaces/x').status, 200);
    const body = { metadata: { name: 'x' }, spec: {} };
    assert.equal(ask('PUT', '/api/v1/namespaces/x/finalize', { body }).status, 200);
    assert.equal(ask('GET', '/api/v1/namespaces/x').status, 404);
  });

  it('deletes what a collection’s selectors choose', () => {
    const { ask } = bench();
    ask('POST', `${NAMESPACE}/configmaps`, {
      body: { metadata: { name: 'b', labels: { x: 'y' } } },
    });
    assert.deepEqual(namesOf(ask('DELETE', `${NAMESPACE}/configmaps?labelSelector=x`)), ['b']);
    assert.deepEqual(namesOf(ask('GET', `${NAMESPACE}/configmaps`)), ['a']);
    assert.equal(ask('DELETE', '/api/v1/configmaps').status, 405);
  });
});
