// Requests of the mirror, and what their answers mean: a namespace that is missing is no race, a conflict is no refusal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import {
  MIRROR_TIMEOUT_MS,
  createMirrorAccess,
} from '../../../../../src/adapters/kubernetes/api/mirror-access.ts';
import type {
  TransportAnswer,
  TransportRequest,
} from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { statusBody } from '../../../../support/scripted-api-server.ts';

const OBJECT: JsonObject = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'FleetDaemonSet',
  metadata: { namespace: 'ops', name: 'agent', uid: 'u', resourceVersion: '7', generation: 1 },
  spec: { uid: 'fleet' },
};

const answered = (status: number, body: unknown): TransportAnswer => ({
  kind: 'answered',
  status,
  body: body as Json,
});

function place(answer: TransportAnswer) {
  const requests: TransportRequest[] = [];
  const send = (request: TransportRequest): Promise<TransportAnswer> => {
    requests.push(request);
    return Promise.resolve(answer);
  };
  return { requests, mirrors: createMirrorAccess({ transport: { send } }) };
}

describe('createMirrorAccess', () => {
  it('applies the object and the status, forced, as rollcall, with a short time-out', async () => {
    const { requests, mirrors } = place(answered(200, OBJECT));
    assert.deepEqual(await mirrors.applyMirror(OBJECT, 'object'), {
      kind: 'written',
      object: OBJECT,
    });
    await mirrors.applyMirror(OBJECT, 'status');
    const query = '?fieldManager=rollcall&force=true';
    const path = '/apis/rollcall.dev/v1alpha1/namespaces/ops/fleetdaemonsets/agent';
    assert.deepEqual(
      requests.map((request) => request.path),
      [`${path}${query}`, `${path}/status${query}`],
    );
    assert.equal(requests[0]?.contentType, 'application/apply-patch+yaml');
    assert.equal(requests[0].timeoutMs, MIRROR_TIMEOUT_MS);
    assert.deepEqual(JSON.parse(requests[0].body ?? ''), OBJECT);
  });

  it('reads one by its name, and takes another one for none', async () => {
    const key = { namespace: 'ops', name: 'agent' };
    assert.deepEqual(await place(answered(200, OBJECT)).mirrors.readMirror(key), {
      kind: 'found',
      object: OBJECT,
    });
    const missing = statusBody(404, 'NotFound', { name: 'agent', kind: 'fleetdaemonsets' });
    assert.deepEqual(await place(answered(404, missing)).mirrors.readMirror(key), {
      kind: 'missing',
    });
    const other = { ...OBJECT, metadata: { ...(OBJECT['metadata'] as object), name: 'other' } };
    const read = await place(answered(200, other)).mirrors.readMirror(key);
    assert.equal(read.kind, 'unavailable');
  });

  it('says of a kind that the cluster does not know that this is refused', async () => {
    const unknown = statusBody(404, 'NotFound');
    const { mirrors } = place(answered(404, unknown));
    const read = await mirrors.readMirror({ namespace: 'ops', name: 'agent' });
    assert.ok(read.kind === 'unavailable' && read.isRefused);
    assert.equal((await mirrors.applyMirror(OBJECT, 'object')).kind, 'refused');
  });

  it('names a namespace that is missing, and takes a status without object for a change', async () => {
    const namespace = statusBody(404, 'NotFound', { name: 'ops', kind: 'namespaces' });
    const applied = await place(answered(404, namespace)).mirrors.applyMirror(OBJECT, 'object');
    assert.ok(applied.kind === 'refused');
    assert.match(applied.message, /no namespace ops/);
    const gone = statusBody(404, 'NotFound', { name: 'agent', kind: 'fleetdaemonsets' });
    const status = await place(answered(404, gone)).mirrors.applyMirror(OBJECT, 'status');
    assert.equal(status.kind, 'changed');
  });

  for (const [status, reason, kind] of [
    [409, 'Conflict', 'changed'],
    [403, 'Forbidden', 'refused'],
    [422, 'Invalid', 'refused'],
    [429, 'TooManyRequests', 'unavailable'],
    [503, 'ServiceUnavailable', 'unavailable'],
  ] as const) {
    it(`takes ${String(status)} for ${kind}`, async () => {
      const { mirrors } = place(answered(status, statusBody(status, reason)));
      assert.equal((await mirrors.applyMirror(OBJECT, 'object')).kind, kind);
    });
  }

  it('removes the very object that was read; one that is gone is removed', async () => {
    const { requests, mirrors } = place(answered(200, { kind: 'Status', status: 'Success' }));
    assert.equal((await mirrors.removeMirror(OBJECT)).kind, 'written');
    const { preconditions } = JSON.parse(requests[0]?.body ?? '') as JsonObject;
    assert.deepEqual(preconditions, { uid: 'u', resourceVersion: '7' });
    const gone = statusBody(404, 'NotFound', { name: 'agent', kind: 'fleetdaemonsets' });
    const again = await place(answered(404, gone)).mirrors.removeMirror(OBJECT);
    assert.equal(again.kind, 'written');
  });

  it('sends nothing for a name that would be another path', async () => {
    const { requests, mirrors } = place(answered(200, OBJECT));
    const object = { ...OBJECT, metadata: { namespace: '../x', name: 'agent' } };
    assert.equal((await mirrors.applyMirror(object, 'object')).kind, 'refused');
    const read = await mirrors.readMirror({ namespace: 'ops', name: 'a/b' });
    assert.equal(read.kind, 'unavailable');
    assert.deepEqual(requests, []);
  });
});
