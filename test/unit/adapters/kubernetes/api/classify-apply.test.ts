/** From answers to server-side applies, as kube-apiserver 1.36 gives them, to outcomes; no value is told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@rollcall/base/json.ts';
import { classifyApply } from '../../../../../src/adapters/kubernetes/api/status-classifier.ts';
import type { TransportAnswer } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { ManifestOutcome } from '../../../../../src/ports/cluster/manifest-access.ts';

const SUBJECT = { namespace: 'agents', name: 'a', isDryRun: false };
const SECRET = 's3cr3t-value';

function status(code: number, fields: Readonly<Record<string, Json>>): TransportAnswer {
  return { kind: 'answered', status: code, body: { kind: 'Status', code, ...fields } };
}

function daemonSet(metadata: Readonly<Record<string, Json>> = {}): Json {
  return {
    kind: 'DaemonSet',
    metadata: { name: 'a', namespace: 'agents', uid: 'u', resourceVersion: '7', ...metadata },
    spec: { template: { spec: {} } },
  };
}

function conflict(message: string, field: string): Json {
  return { reason: 'FieldManagerConflict', message, field };
}

const outcomeOf = (answer: TransportAnswer, isDryRun = false): ManifestOutcome =>
  classifyApply(answer, { ...SUBJECT, isDryRun });

describe('classifyApply', () => {
  it('tells a create from a change by its status', () => {
    const kinds = [200, 201].map((code) => {
      const outcome = outcomeOf({ kind: 'answered', status: code, body: daemonSet() });
      return outcome.kind === 'applied' && outcome.isCreated;
    });
    assert.deepEqual(kinds, [false, true]);
  });

  it('takes no object that was not asked for, and none without a version', () => {
    for (const metadata of [{ name: 'b' }, { namespace: 'other' }, { resourceVersion: '' }]) {
      const body = daemonSet(metadata);
      assert.equal(outcomeOf({ kind: 'answered', status: 200, body }).kind, 'unavailable');
    }
    assert.equal(outcomeOf({ kind: 'answered', status: 200, body: undefined }).kind, 'unavailable');
  });

  it('takes what a dry run would create, which has no version yet', () => {
    const { resourceVersion: _none, ...metadata } = (
      daemonSet() as { metadata: Record<string, Json> }
    ).metadata;
    const body = { ...(daemonSet() as object), metadata } as Json;
    const answer = { kind: 'answered', status: 201, body } as const;
    const outcome = outcomeOf(answer, true);
    assert.equal(outcome.kind === 'applied' && outcome.object.metadata.resourceVersion, '');
    assert.equal(outcomeOf(answer).kind, 'unavailable');
  });

  it('names manager and field of each conflict', () => {
    const field = '.spec.template.spec.containers[name="x"].image';
    const causes = [
      conflict('conflict with "argocd-controller" using apps/v1 at 2026-11-25T18:53:48Z', field),
      conflict('conflict with "rollcall"', '.spec.updateStrategy.type'),
      conflict('conflict with "so \\"quoted\\"" using apps/v1', '.spec.selector'),
    ];
    assert.deepEqual(outcomeOf(status(409, { reason: 'Conflict', details: { causes } })), {
      kind: 'conflict',
      conflicts: [
        { manager: 'argocd-controller', field },
        { manager: 'rollcall', field: '.spec.updateStrategy.type' },
        { manager: 'so "quoted"', field: '.spec.selector' },
      ],
    });
  });

  it('bounds conflicts, managers and fields', () => {
    const causes = Array.from({ length: 500 }, () =>
      conflict(`conflict with "${'m'.repeat(400)}"`, 'f'.repeat(5_000)),
    );
    const outcome = outcomeOf(status(409, { reason: 'Conflict', details: { causes } }));
    assert.ok(outcome.kind === 'conflict');
    assert.equal(outcome.conflicts.length, 32);
    assert.equal(outcome.conflicts[0].manager.length, 128);
    assert.equal(outcome.conflicts[0].field.length, 300);
  });

  it('says that the DaemonSet changed: another version, another UID, gone', () => {
    const version = status(409, { reason: 'Conflict', message: 'the object has been modified' });
    const gone = status(409, { reason: 'Conflict', message: 'uid mismatch: no existing object' });
    const other = status(422, {
      reason: 'Invalid',
      details: { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid' }] },
    });
    for (const answer of [version, gone, other]) {
      assert.deepEqual(outcomeOf(answer), { kind: 'changed' });
    }
  });

  const refusals: readonly (readonly [string, TransportAnswer, string])[] = [
    [
      'a namespace that is not there',
      status(404, { reason: 'NotFound', details: { name: 'agents', kind: 'namespaces' } }),
      'the namespace agents does not exist',
    ],
    [
      'a namespace that is going',
      status(403, {
        reason: 'Forbidden',
        details: { causes: [{ reason: 'NamespaceTerminating' }] },
      }),
      'the namespace agents is being deleted',
    ],
    [
      'a missing right',
      status(403, { reason: 'Forbidden', message: 'cannot create resource "daemonsets"' }),
      'cannot create resource "daemonsets"',
    ],
    [
      'no server-side apply',
      status(415, { reason: '' }),
      'the API server has no server-side apply',
    ],
    [
      'a webhook',
      status(400, { reason: 'BadRequest', message: 'admission webhook "w" denied the request' }),
      'admission webhook "w" denied the request',
    ],
    [
      'violations, by field and rule',
      status(422, {
        reason: 'Invalid',
        message: `invalid: "${SECRET}"`,
        details: {
          causes: [
            { field: 'spec.a', message: `Invalid value: "${SECRET} \\" b": must be short` },
            { field: 'spec.b', message: `Invalid value: {"x":"${SECRET}"}: field is immutable` },
            { field: 'spec.c', message: 'Required value: must have one' },
            { field: 'spec.d', message: `Duplicate value: "${SECRET}"` },
            { field: 'spec.e', message: 'Forbidden: not here' },
            { field: 'spec.f' },
          ],
        },
      }),
      'spec.a: Invalid value: must be short; spec.b: Invalid value; spec.c: Required value: must have one; ' +
        'spec.d: Duplicate value; spec.e: Forbidden: not here; spec.f: refused',
    ],
    [
      'a field that the schema does not know, which is a plain 500',
      status(500, { message: 'failed to create typed patch object (a): .spec.foo: not declared' }),
      'failed to create typed patch object (a): .spec.foo: not declared',
    ],
    [
      'a value of another type, without the value',
      status(500, {
        message: `failed to create typed patch object (a): .value: expected string, got &value.valueUnstructured{Value:${SECRET}}`,
      }),
      'failed to create typed patch object (a): .value: expected string',
    ],
  ];
  for (const [title, answer, message] of refusals) {
    it(`is refused for good by ${title}`, () => {
      const outcome = outcomeOf(answer);
      assert.equal(outcome.kind === 'refused' && outcome.message, message);
    });
  }

  it('tells no more than eight violations', () => {
    const causes = Array.from({ length: 20 }, (_, index) => ({ field: `f${String(index)}` }));
    const outcome = outcomeOf(status(422, { reason: 'Invalid', details: { causes } }));
    assert.match(
      outcome.kind === 'refused' ? outcome.message : '',
      /^f0: refused; .*; and 12 more$/,
    );
  });

  it('may be repeated after what says nothing of the manifest', () => {
    const answers: readonly TransportAnswer[] = [
      status(401, { reason: 'Unauthorized' }),
      status(429, { reason: 'TooManyRequests' }),
      status(408, {}),
      status(500, { reason: 'InternalError', message: 'failed calling webhook "w"' }),
      status(500, { message: 'etcdserver: request timed out' }),
      status(504, { reason: 'Timeout' }),
      { kind: 'answered', status: 403, body: undefined },
      { kind: 'answered', status: 404, body: undefined },
      { kind: 'unsent', message: 'ECONNREFUSED' },
      { kind: 'ambiguous', message: 'ETIMEDOUT' },
    ];
    for (const answer of answers) assert.equal(outcomeOf(answer).kind, 'unavailable');
  });

  it('tells an API server that will not have the credential from one that is silent', () => {
    const isAnswered = [
      status(401, { reason: 'Unauthorized' }),
      status(503, { reason: 'ServiceUnavailable' }),
    ].map((answer) => {
      const outcome = outcomeOf(answer);
      return outcome.kind === 'unavailable' && outcome.isAnswered === true;
    });
    assert.deepEqual(isAnswered, [true, false]);
  });

  it('passes on for how long the API server wants to be left alone', () => {
    const outcome = outcomeOf({ kind: 'answered', status: 429, body: {}, retryAfterMs: 2_000 });
    assert.equal(outcome.kind === 'unavailable' && outcome.retryAfterMs, 2_000);
  });
});
