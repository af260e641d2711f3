/** PATCH, with the answers of the real server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@rollcall/base/json.ts';
import {
  createApiBench,
  JSON_PATCH,
  MERGE,
  metadataOf,
  NAMESPACE,
  POD,
  STRATEGIC,
} from '../../../support/api-bench.ts';
import type { BenchAnswer } from '../../../support/api-bench.ts';

const PATH = `${NAMESPACE}/pods/p`;

function patcher(): (body: Json, contentType: string, path?: string) => BenchAnswer {
  const { ask } = createApiBench();
  ask('POST', `${NAMESPACE}/pods`, { body: POD });
  return (body, contentType, path = PATH) => ask('PATCH', path, { body, contentType });
}

describe('patch', () => {
  it('applies each kind of patch', () => {
    const patch = patcher();
    assert.equal(patch({ metadata: { labels: { a: '1' } } }, MERGE).status, 200);
    assert.equal(patch({ metadata: { labels: { b: '2' } } }, STRATEGIC).status, 200);
    const last = patch(
      [{ op: 'add', path: '/metadata/labels/c', value: '3' }],
      `${JSON_PATCH}; charset=utf-8`,
    );
    assert.deepEqual(metadataOf(last)['labels'], { a: '1', b: '2', c: '3' });
  });

  it('merges conditions of a status by their type, and touches nothing else', () => {
    const patch = patcher();
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    patch(
      { status: { conditions: [{ type: 'X', status: 'False' }] } },
      STRATEGIC,
      `${PATH}/status`,
    );
    const { body } = patch({ spec: { priority: 7 }, status }, STRATEGIC, `${PATH}/status`);
    const { conditions } = body['status'] as { conditions: readonly { type: string }[] };
    assert.deepEqual(conditions.map(({ type }) => type).toSorted(), ['Ready', 'X']);
    assert.equal((body['spec'] as { priority: number }).priority, 0);
  });

  const REFUSED: readonly (readonly [
    what: string,
    body: Json,
    type: string,
    status: number,
    reason: string | undefined,
  ])[] = [
    ['an old resourceVersion', { metadata: { resourceVersion: '1' } }, MERGE, 409, 'Conflict'],
    ['another UID', { metadata: { uid: 'x' } }, MERGE, 422, 'Invalid'],
    ['another name', { metadata: { name: 'x' } }, MERGE, 400, 'BadRequest'],
    ['another namespace', { metadata: { namespace: 'x' } }, MERGE, 400, 'BadRequest'],
    ['another kind', { kind: 'Node' }, MERGE, 422, 'Invalid'],
    ['a wrong type', { metadata: { labels: { a: 1 } } }, MERGE, 422, 'Invalid'],
    ['a list for a merge patch', [], MERGE, 400, 'BadRequest'],
    ['an object for a JSON patch', {}, JSON_PATCH, 400, 'BadRequest'],
    ['a failing test', [{ op: 'test', path: '/kind', value: 'x' }], JSON_PATCH, 422, 'Invalid'],
    ['an unknown directive', { spec: { $patch: 'x' } }, STRATEGIC, 500, undefined],
    ['a plain JSON body', {}, 'application/json', 415, 'UnsupportedMediaType'],
    ['server-side apply', {}, 'application/apply-patch+yaml', 415, 'UnsupportedMediaType'],
  ];
  for (const [what, body, type, status, reason] of REFUSED) {
    it(`refuses ${what}`, () => {
      const answer = patcher()(body, type);
      assert.deepEqual([answer.status, answer.body['reason']], [status, reason]);
    });
  }

  it('warns of unknown fields, or refuses them', () => {
    const patch = patcher();
    const warned = patch({ foo: 1 }, STRATEGIC);
    assert.deepEqual(warned.answer.kind === 'object' && warned.answer.warnings, [
      'unknown field "foo"',
    ]);
    assert.equal(patch({ foo: 1 }, STRATEGIC, `${PATH}?fieldValidation=Strict`).status, 422);
  });

  it('does not find a missing object', () => {
    assert.equal(patcher()({}, MERGE, `${NAMESPACE}/pods/nope`).status, 404);
  });

  it('leaves the object alone in a dry run', () => {
    const patch = patcher();
    const dry = patch({ metadata: { labels: { a: '1' } } }, MERGE, `${PATH}?dryRun=All`);
    assert.deepEqual(metadataOf(dry)['labels'], { a: '1' });
    assert.equal(metadataOf(patch({}, MERGE))['labels'], undefined);
  });
});
