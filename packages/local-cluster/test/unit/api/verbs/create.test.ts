/** POST to a collection, with the answers of the real server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiBench, metadataOf, NAMESPACE, POD } from '../../../support/api-bench.ts';

const CONFIG_MAPS = `${NAMESPACE}/configmaps`;

describe('create', () => {
  it('gives a new object what is the server’s, and drops what a client put there', () => {
    const { ask } = createApiBench();
    const metadata = {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2020-01-01T00:00:00Z',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      managedFields: [],
    };
    const answer = ask('POST', CONFIG_MAPS, { body: { metadata } });
    assert.equal(answer.status, 201);
    const { uid, resourceVersion, ...rest } = metadataOf(answer);
    assert.notEqual(uid, 'mine');
    assert.match(String(resourceVersion), /^\d+$/);
    assert.deepEqual(rest, {
      name: 'a',
      namespace: 'default',
      creationTimestamp: '2026-01-01T00:00:00Z',
    });
  });

  it('generates a name', () => {
    const { ask } = createApiBench();
    const answer = ask('POST', CONFIG_MAPS, { body: { metadata: { generateName: 'gen-' } } });
    assert.match(String(metadataOf(answer)['name']), /^gen-[a-z0-9]{5}$/);
  });

  it('stores nothing in a dry run, and shows no resourceVersion', () => {
    const { ask } = createApiBench();
    const dry = ask('POST', `${CONFIG_MAPS}?dryRun=All`, { body: { metadata: { name: 'a' } } });
    assert.equal(dry.status, 201);
    assert.equal(metadataOf(dry)['resourceVersion'], undefined);
    assert.equal(ask('GET', `${CONFIG_MAPS}/a`).status, 404);
  });

  it('says that an object exists, and whether it is going', () => {
    const { ask } = createApiBench();
    ask('POST', `${NAMESPACE}/pods`, { body: POD });
    const again = ask('POST', `${NAMESPACE}/pods`, { body: POD });
    assert.deepEqual([again.status, again.body['reason']], [409, 'AlreadyExists']);
    ask('DELETE', `${NAMESPACE}/pods/p`);
    const going = ask('POST', `${NAMESPACE}/pods`, { body: POD });
    assert.match(String(going.body['message']), /^object is being deleted/);
  });

  it('refuses namespaces that are missing or terminating', () => {
    const { ask } = createApiBench();
    const body = { metadata: { name: 'a' } };
    const missing = ask('POST', '/api/v1/namespaces/nope/configmaps', { body });
    assert.equal(missing.status, 404);
    assert.deepEqual(missing.body['details'], { name: 'nope', kind: 'namespaces' });
    ask('POST', '/api/v1/namespaces', { body: { metadata: { name: 'gone' } } });
    ask('DELETE', '/api/v1/namespaces/gone');
    const terminating = ask('POST', '/api/v1/namespaces/gone/configmaps', { body });
    assert.equal(terminating.status, 403);
    const details = terminating.body['details'] as { causes: readonly { reason: string }[] };
    assert.equal(details.causes[0]?.reason, 'NamespaceTerminating');
  });

  it('answers unknown fields as fieldValidation asks', () => {
    const { ask } = createApiBench();
    const post = (query: string, name: string): ReturnType<typeof ask> =>
      ask('POST', `${CONFIG_MAPS}${query}`, { body: { metadata: { name }, foo: 1 } });
    const warned = post('', 'a');
    assert.deepEqual(warned.answer.kind === 'object' && warned.answer.warnings, [
      'unknown field "foo"',
    ]);
    const ignored = post('?fieldValidation=Ignore', 'b');
    assert.equal(ignored.answer.kind === 'object' && ignored.answer.warnings, undefined);
    assert.equal(post('?fieldValidation=Strict', 'c').status, 400);
    assert.equal(post('?fieldValidation=Other', 'd').status, 422);
  });

  it('generates names behind a prefix, cut at 63, and a version 4 UUID', () => {
    const { ask } = createApiBench();
    const metadataFor = (generateName: string): Readonly<Record<string, unknown>> =>
      metadataOf(ask('POST', CONFIG_MAPS, { body: { metadata: { generateName } } }));
    const first = metadataFor('web-');
    assert.match(String(first['name']), /^web-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    assert.equal(String(metadataFor('x'.repeat(62))['name']).length, 63);
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    assert.match(String(first['uid']), uuid);
    assert.notEqual(metadataFor('web-')['uid'], first['uid']);
  });

  const REFUSED: readonly (readonly [what: string, body: object, status: number])[] = [
    ['a bad name', { metadata: { name: 'A_' } }, 422],
    ['no name', {}, 422],
    ['a list', [], 400],
    ['another kind', { kind: 'Pod' }, 400],
    ['another version', { apiVersion: 'v2' }, 400],
    ['another type', { data: { a: 1 } }, 400],
    ['another namespace', { metadata: { name: 'a', namespace: 'b' } }, 400],
    ['a resourceVersion', { metadata: { name: 'a', resourceVersion: '5' } }, 500],
  ];
  for (const [what, body, status] of REFUSED) {
    it(`refuses ${what}`, () => {
      const { ask } = createApiBench();
      assert.equal(ask('POST', CONFIG_MAPS, { body: body as never }).status, status);
    });
  }

  it('takes no other format', () => {
    const { ask } = createApiBench();
    const body = { metadata: { name: 'a' } };
    const answer = ask('POST', CONFIG_MAPS, { body, contentType: 'text/plain' });
    assert.deepEqual([answer.status, answer.body['reason']], [415, 'UnsupportedMediaType']);
  });
});
