/** From HTTP answers, as API servers and proxies give them, to outcomes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../../../../../src/core/model/effects.ts';
import type { Json } from '@rollcall/base/json.ts';
import {
  classifyRead,
  classifyWrite,
} from '../../../../../src/adapters/kubernetes/api/status-classifier.ts';
import type { WriteSubject } from '../../../../../src/adapters/kubernetes/api/status-classifier.ts';
import type { TransportAnswer } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { statusBody } from '../../../../support/scripted-api-server.ts';

type Details = Readonly<Record<string, unknown>>;

function answered(status: number, reason?: string, details: Details = {}): TransportAnswer {
  const body = reason === undefined ? undefined : (statusBody(status, reason, details) as Json);
  return { kind: 'answered', status, body };
}

const CREATE: WriteSubject = { operation: 'create', name: 'pod-1' };
const DELETE: WriteSubject = { operation: 'delete', name: 'pod-1' };
const PATCH: WriteSubject = { operation: 'patch', name: 'pod-1' };
const UPDATE: WriteSubject = { operation: 'update', name: 'set-1' };

const terminating = { name: 'pod-1', causes: [{ reason: 'NamespaceTerminating' }] };

/** Title, subject, answer, and the kind of outcome, with the code where it is refused. */
const table: readonly (readonly [string, WriteSubject, TransportAnswer, string])[] = [
  ['a name that is taken', CREATE, answered(409, 'AlreadyExists', { name: 'pod-1' }), 'exists'],
  ['a conflict beside a create', CREATE, answered(409, 'Conflict'), 'unsent'],
  ['a failed precondition of a delete', DELETE, answered(409, 'Conflict'), 'conflict'],
  ['a failed precondition of a status PUT', UPDATE, answered(409, 'Conflict'), 'conflict'],
  [
    'a patch for another UID',
    PATCH,
    answered(422, 'Invalid', { causes: [{ field: 'metadata.uid', reason: 'FieldValueInvalid' }] }),
    'conflict',
  ],
  ['a victim that is gone', DELETE, answered(404, 'NotFound', { name: 'pod-1' }), 'gone'],
  [
    'a victim whose namespace is gone',
    DELETE,
    answered(404, 'NotFound', { name: 'agents', kind: 'namespaces' }),
    'gone',
  ],
  ['a 404 about something else', DELETE, answered(404, 'NotFound', { name: 'x' }), 'unsupported'],
  ['a 404 of a proxy', DELETE, answered(404), 'unsupported'],
  [
    'a create in a namespace that is gone',
    CREATE,
    answered(404, 'NotFound', { name: 'agents', kind: 'namespaces' }),
    'namespace-missing',
  ],
  ['an API that is not served', CREATE, answered(404), 'unsupported'],
  [
    'a terminating namespace',
    CREATE,
    answered(403, 'Forbidden', terminating),
    'namespace-terminating',
  ],
  [
    'a refusal of admission, or quota',
    CREATE,
    answered(403, 'Forbidden', { name: 'pod-1' }),
    'admission',
  ],
  ['a refusal of RBAC', CREATE, answered(403, 'Forbidden', { kind: 'pods' }), 'forbidden'],
  ['a refusal of RBAC by name', DELETE, answered(403, 'Forbidden', { name: 'pod-1' }), 'forbidden'],
  ['a 403 of a proxy', CREATE, answered(403), 'forbidden'],
  ['a webhook that says no', CREATE, answered(400, ''), 'admission'],
  ['a malformed request', CREATE, answered(400, 'BadRequest'), 'invalid'],
  [
    'a policy that says no',
    CREATE,
    answered(422, 'Invalid', { causes: [{ message: 'must not' }] }),
    'admission',
  ],
  [
    'an object that is invalid',
    CREATE,
    answered(422, 'Invalid', {
      causes: [{ field: 'spec.containers', reason: 'FieldValueRequired' }],
    }),
    'invalid',
  ],
  ['a credential that is refused', CREATE, answered(401, 'Unauthorized'), 'unauthorized'],
  ['a body that is too large', CREATE, answered(413, 'RequestEntityTooLarge'), 'too-large'],
  ['a media type that is not known', PATCH, answered(415, 'UnsupportedMediaType'), 'unsupported'],
  ['a redirect', CREATE, answered(307), 'other'],
  ['a throttle', CREATE, answered(429, 'TooManyRequests'), 'unsent'],
  ['a gateway that gave up', CREATE, answered(408), 'ambiguous'],
  ['an internal error', CREATE, answered(500, 'InternalError'), 'ambiguous'],
  ['a bad gateway', DELETE, answered(502), 'ambiguous'],
  ['an outage without Retry-After', CREATE, answered(503), 'ambiguous'],
  ['a time-out of the server', CREATE, answered(504, 'Timeout'), 'ambiguous'],
  ['a success that cannot be read', CREATE, answered(201), 'ambiguous'],
  ['a lost answer', CREATE, { kind: 'ambiguous', message: 'ECONNRESET' }, 'ambiguous'],
  ['no connection', CREATE, { kind: 'unsent', message: 'ECONNREFUSED' }, 'unsent'],
];

function label(outcome: Outcome): string {
  return outcome.kind === 'refused' ? outcome.code : outcome.kind;
}

describe('classifyWrite: by reason and details, never by message', () => {
  for (const [title, subject, answer, wanted] of table) {
    it(`calls ${title} ${wanted} (${subject.operation})`, () => {
      assert.equal(label(classifyWrite(answer, subject)), wanted);
    });
  }

  it('gives the object of a success, also one that is born terminating (faults 42)', () => {
    const object = { kind: 'Pod', metadata: { name: 'pod-1', deletionTimestamp: 'now' } };
    const answer: TransportAnswer = { kind: 'answered', status: 201, body: object };
    assert.deepEqual(classifyWrite(answer, CREATE), { kind: 'done', object });
    const dated = classifyWrite({ ...answer, atMs: 5 }, CREATE);
    assert.deepEqual(dated, { kind: 'done', object, answeredAtMs: 5 });
  });

  it('calls an outage with Retry-After unsent, and keeps the delay', () => {
    const answer: TransportAnswer = {
      kind: 'answered',
      status: 503,
      body: undefined,
      retryAfterMs: 2000,
    };
    const outcome = classifyWrite(answer, CREATE);
    assert.deepEqual(outcome, { kind: 'unsent', message: 'HTTP 503', retryAfterMs: 2000 });
  });

  it('calls no other failure of a server unsent, whatever it asks for: a time-out may have been applied', () => {
    for (const status of [500, 502, 504, 507]) {
      const answer = { ...answered(status, 'Timeout'), retryAfterMs: 1000 };
      assert.equal(classifyWrite(answer, CREATE).kind, 'ambiguous');
    }
  });

  it('names the priority level that throttled', () => {
    const answer = { ...answered(429, 'TooManyRequests'), priorityLevel: 'workload-low' };
    const outcome = classifyWrite(answer, CREATE);
    assert.match(outcome.kind === 'unsent' ? outcome.message : '', /priority level workload-low/);
  });

  it('keeps what the API server said apart from the HTTP status, which is for logs', () => {
    for (const [status, reason] of [
      [403, 'Forbidden'],
      [500, 'InternalError'],
    ] as const) {
      const outcome = classifyWrite(answered(status, reason, { name: 'pod-1' }), CREATE);
      assert.ok('said' in outcome && 'message' in outcome);
      assert.equal(outcome.said, `${reason} happened`);
      assert.equal(outcome.message, `HTTP ${String(status)} ${reason}: ${reason} happened`);
    }
    assert.ok(!('said' in classifyWrite(answered(403), CREATE)), 'a proxy says nothing');
  });

  it('keeps messages to one bounded line (faults 67)', () => {
    const body = { ...statusBody(403, 'Forbidden'), message: `a\nb\u001b[31m${'x'.repeat(9000)}` };
    const outcome = classifyWrite({ kind: 'answered', status: 403, body: body as Json }, CREATE);
    assert.ok(outcome.kind === 'refused');
    assert.ok(outcome.message.length < 600);
    assert.ok(!/[\n\u001b]/.test(outcome.message));
  });
});

describe('classifyRead', () => {
  const read = (body: Json | undefined): Json | undefined => body;

  it('believes "missing" only in a Status that names the object (S3)', () => {
    const named = answered(404, 'NotFound', { name: 'node-1' });
    assert.deepEqual(classifyRead(named, 'node-1', read), { kind: 'missing' });
    assert.equal(classifyRead(named, 'node-2', read).kind, 'unavailable');
    assert.equal(classifyRead(answered(404), 'node-1', read).kind, 'unavailable');
    assert.equal(
      classifyRead(answered(404, 'Gone', { name: 'node-1' }), 'node-1', read).kind,
      'unavailable',
    );
  });

  it('calls another object than asked for unavailable', () => {
    const answer: TransportAnswer = { kind: 'answered', status: 200, body: {} };
    const result = classifyRead(answer, 'node-1', () => undefined);
    assert.equal(result.kind, 'unavailable');
    assert.equal(result.kind === 'unavailable' && result.isRefused, false);
  });

  it('tells a refusal from an outage', () => {
    const refused = classifyRead(answered(403, 'Forbidden'), 'node-1', read);
    assert.equal(refused.kind === 'unavailable' && refused.isRefused, true);
    for (const answer of [
      answered(500, 'InternalError'),
      answered(429, 'TooManyRequests'),
      answered(410, 'Expired'),
      { kind: 'ambiguous', message: 'ETIMEDOUT' } as const,
    ]) {
      const outage = classifyRead(answer, 'node-1', read);
      assert.equal(outage.kind === 'unavailable' && outage.isRefused, false);
    }
  });
});
