/** Server-side apply of DaemonSets, with the answers of the real server; test/conformance/emulator compares many more. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createApiBench, metadataOf } from '../../../support/api-bench.ts';
import type { BenchAnswer } from '../../../support/api-bench.ts';

const SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const APPLY = 'application/apply-patch+yaml';
const IMAGE = '.spec.template.spec.containers[name="x"].image';

function manifest(image: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'x', image }], ...spec },
      },
    },
  };
}

function bench() {
  const { ask } = createApiBench();
  const apply = (manager: string, body: Json, query = ''): BenchAnswer =>
    ask('PATCH', `${SETS}/a?fieldManager=${manager}${query}`, { body, contentType: APPLY });
  return { ask, apply };
}

const causesOf = ({ body }: BenchAnswer): unknown =>
  (body['details'] as { readonly causes?: unknown } | undefined)?.causes;

describe('server-side apply', () => {
  it('creates, answers an equal one as it is, and notes who owns what', () => {
    const { apply } = bench();
    const created = apply('one', manifest('i:1'));
    assert.equal(created.status, 201);
    const again = apply('one', manifest('i:1'));
    assert.equal(again.status, 200);
    assert.equal(metadataOf(again)['resourceVersion'], metadataOf(created)['resourceVersion']);
    const [owner] = metadataOf(created)['managedFields'] as readonly JsonObject[];
    assert.deepEqual(owner?.['fieldsV1'], {
      'f:spec': {
        'f:selector': {},
        'f:template': {
          'f:metadata': { 'f:labels': { 'f:a': {} } },
          'f:spec': {
            'f:containers': { 'k:{"name":"x"}': { '.': {}, 'f:image': {}, 'f:name': {} } },
          },
        },
      },
    });
  });

  it('names the owner of another value, and takes it by force', () => {
    const { ask, apply } = bench();
    apply('one', manifest('i:1'));
    const message = 'conflict with "one"';
    assert.deepEqual(causesOf(apply('two', manifest('i:2'))), [
      { reason: 'FieldManagerConflict', message, field: IMAGE },
    ]);
    assert.equal(apply('two', manifest('i:2'), '&force=true').status, 200);
    assert.equal(apply('one', manifest('i:1')).status, 409);
    const image = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: 'i:3' }];
    const contentType = 'application/json-patch+json';
    ask('PATCH', `${SETS}/a?fieldManager=three`, { body: image, contentType });
    assert.deepEqual(causesOf(apply('two', manifest('i:2'))), [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "three" using apps/v1',
        field: IMAGE,
      },
    ]);
  });

  it('takes out what its owner no longer lists, with its defaults, unless somebody else owns it', () => {
    const { apply } = bench();
    const specOf = ({ body }: BenchAnswer): JsonObject =>
      (body as { spec: { template: { spec: JsonObject } } }).spec.template.spec;
    apply('one', manifest('i:1', { hostNetwork: true, nodeSelector: { n: '1' } }));
    apply('two', manifest('i:1', { hostNetwork: true }));
    const left = specOf(apply('one', manifest('i:1')));
    assert.deepEqual([left['hostNetwork'], left['nodeSelector']], [true, undefined]);
    assert.equal(specOf(apply('two', manifest('i:1')))['hostNetwork'], undefined);
  });

  it('keeps nothing of a dry run', () => {
    const { ask, apply } = bench();
    const dry = apply('one', manifest('i:1'), '&dryRun=All');
    assert.deepEqual([dry.status, metadataOf(dry)['resourceVersion']], [201, undefined]);
    assert.equal(ask('GET', `${SETS}/a`).status, 404);
  });

  it('is fenced by the UID and the version of the configuration', () => {
    const { ask, apply } = bench();
    const old = metadataOf(apply('one', manifest('i:1')));
    apply('one', manifest('i:2'));
    const { uid = '', resourceVersion = '' } = old as { uid?: string; resourceVersion?: string };
    assert.equal(apply('one', manifest('i:3', {}, { resourceVersion })).status, 409);
    assert.equal(apply('one', manifest('i:3', {}, { uid: 'other' })).status, 422);
    ask('DELETE', `${SETS}/a`);
    assert.equal(apply('one', manifest('i:3', {}, { uid })).status, 409);
    assert.equal(
      apply('one', manifest('i:3', {}, { resourceVersion })).status,
      201,
      'no fence there',
    );
  });

  const container = (members: JsonObject): JsonObject => ({
    containers: [{ name: 'x', image: 'i', ...members }],
  });
  for (const [title, body, status] of [
    ['an unknown field', manifest('i:1', { nonsense: 1 }), 500],
    [
      'a value of another type',
      manifest('i:1', container({ env: [{ name: 'A', value: 5 }] })),
      500,
    ],
    [
      'an item that is there twice',
      manifest('i:1', container({ env: [{ name: 'A' }, { name: 'A' }] })),
      500,
    ],
    ['owners', manifest('i:1', {}, { managedFields: [] }), 400],
    ['another name', manifest('i:1', {}, { name: 'b' }), 400],
    ['what is no object', 'text', 400],
    ['what is not valid', manifest('i:1', { restartPolicy: 'Never' }), 422],
  ] as const) {
    it(`refuses ${title}`, () => {
      assert.equal(bench().apply('one', body).status, status);
    });
  }

  it('needs a manager, and a resource whose fields have owners', () => {
    const { ask, apply } = bench();
    assert.equal(apply('', manifest('i:1')).status, 422);
    const pod = ask('PATCH', '/api/v1/namespaces/default/pods/p?fieldManager=one', {
      body: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } },
      contentType: APPLY,
    });
    assert.equal(pod.status, 415);
  });
});
