/** Binding, eviction and status. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiBench, metadataOf, NAMESPACE, POD } from '../../../support/api-bench.ts';
import type { ApiBench } from '../../../support/api-bench.ts';

const PODS = `${NAMESPACE}/pods`;
const UNBOUND = { metadata: { name: 'u' }, spec: { containers: [{ name: 'a', image: 'image' }] } };

function bench(): ApiBench {
  const made = createApiBench();
  for (const body of [POD, UNBOUND]) made.ask('POST', PODS, { body });
  return made;
}

describe('subresources', () => {
  it('binds a pod once', () => {
    const { ask } = bench();
    const body = { metadata: { name: 'u' }, target: { kind: 'Node', name: 'n1' } };
    const bound = ask('POST', `${PODS}/u/binding`, { body });
    assert.deepEqual([bound.status, bound.body['status']], [201, 'Success']);
    assert.equal((ask('GET', `${PODS}/u`).body['spec'] as { nodeName: string }).nodeName, 'n1');
    assert.equal(ask('POST', `${PODS}/u/binding`, { body }).status, 409);
    assert.equal(
      ask('POST', `${PODS}/nope/binding`, { body: { ...body, metadata: { name: 'nope' } } }).status,
      404,
    );
  });

  it('evicts: the pod ends in its grace and says why', () => {
    const { ask } = bench();
    const evicted = ask('POST', `${PODS}/p/eviction`, { body: { metadata: { name: 'p' } } });
    assert.deepEqual(
      [evicted.status, evicted.body['status'], evicted.body['code']],
      [201, 'Success', 201],
    );
    const pod = ask('GET', `${PODS}/p`);
    assert.equal(metadataOf(pod)['deletionGracePeriodSeconds'], 30);
    const { conditions } = pod.body['status'] as { conditions: readonly { type: string }[] };
    assert.ok(conditions.some(({ type }) => type === 'DisruptionTarget'));
  });

  it('evicts under preconditions, and not in a dry run', () => {
    const { ask, store } = bench();
    const version = store.version();
    const evict = (deleteOptions: object): number =>
      ask('POST', `${PODS}/p/eviction`, {
        body: { metadata: { name: 'p' }, deleteOptions } as never,
      }).status;
    assert.equal(evict({ preconditions: { uid: 'x' } }), 409);
    assert.equal(evict({ dryRun: ['All'] }), 201);
    assert.equal(store.version(), version);
    const { uid, resourceVersion } = metadataOf(ask('GET', `${PODS}/p`));
    assert.equal(evict({ preconditions: { uid, resourceVersion }, gracePeriodSeconds: 0 }), 201);
    assert.equal(ask('GET', `${PODS}/p`).status, 404);
  });

  it('refuses an eviction of another pod than the path names', () => {
    const { ask } = bench();
    assert.equal(
      ask('POST', `${PODS}/p/eviction`, { body: { metadata: { name: 'q' } } }).status,
      400,
    );
    const elsewhere = { metadata: { name: 'p', namespace: 'other' } };
    assert.equal(ask('POST', `${PODS}/p/eviction`, { body: elsewhere }).status, 400);
  });

  it('writes a status without touching the rest', () => {
    const { ask } = bench();
    const body = { ...POD, spec: { containers: [] }, status: { phase: 'Running' } };
    const answer = ask('PUT', `${PODS}/p/status`, { body });
    assert.equal(answer.status, 200);
    assert.equal((answer.body['status'] as { phase: string }).phase, 'Running');
    assert.equal((answer.body['spec'] as { containers: readonly unknown[] }).containers.length, 1);
    assert.equal(ask('GET', `${PODS}/p/status`).body['kind'], 'Pod');
  });
});
