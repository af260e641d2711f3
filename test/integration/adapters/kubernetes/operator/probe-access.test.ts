/** The takeover probe's DaemonSet over a scripted server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { uid } from '../../../../../src/core/model/identifiers.ts';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { createHandBackAccess } from '../../../../../src/adapters/kubernetes/operator/hand-back-access.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { ProbeAccess } from '../../../../../src/ports/cluster/hand-back-access.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedAnswer, ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

const KEY = { namespace: 'rollcall-system', name: 'probe-1' };
const PATH = '/apis/apps/v1/namespaces/rollcall-system/daemonsets';
const daemonSet = {
  kind: 'DaemonSet',
  metadata: { ...KEY, uid: 'uid-1', resourceVersion: '5', generation: 1 },
  spec: { template: {} },
};

describe('probe access', () => {
  let server: ScriptedApiServer;
  let access: ProbeAccess;
  before(async () => {
    server = await startScriptedApiServer();
    const transport = new HttpsTransport({
      endpoint: { host: '127.0.0.1', port: server.port, pathPrefix: '' },
      caPem: server.caPem,
      credential: staticBearer('token'),
      clock: createHeldTimers(),
    });
    access = createHandBackAccess({ transport });
  });
  after(() => server.close());

  function answer(next: ScriptedAnswer): void {
    server.requests.length = 0;
    server.answerWith((_request, response) => {
      answerJson(response, next);
    });
  }

  it('creates, reads and deletes one DaemonSet', async () => {
    answer({ status: 201, body: daemonSet });
    const body = { metadata: { name: KEY.name } };
    const created = await access.createDaemonSet({ ...KEY, body });
    assert.deepEqual(created, { kind: 'found', object: daemonSet });
    assert.deepEqual(JSON.parse(server.requests[0]?.body ?? ''), body);
    answer({ status: 200, body: daemonSet });
    assert.equal((await access.getDaemonSet(KEY)).kind, 'found');
    assert.equal((await access.deleteDaemonSet(KEY, { uid: uid('uid-1') })).kind, 'found');
    const [get, remove] = server.requests;
    assert.deepEqual([get?.method, get?.path], ['GET', `${PATH}/probe-1`]);
    assert.deepEqual([remove?.method, remove?.path], ['DELETE', `${PATH}/probe-1`]);
    const options = JSON.parse(remove?.body ?? '') as Record<string, unknown>;
    assert.deepEqual(options['preconditions'], { uid: 'uid-1' });
  });

  it('tells a namespace that is missing, and an object that is gone', async () => {
    const details = { name: 'rollcall-system', kind: 'namespaces' };
    answer({ status: 404, body: statusBody(404, 'NotFound', details) });
    assert.deepEqual(await access.createDaemonSet({ ...KEY, body: {} }), { kind: 'missing' });
    answer({ status: 404, body: statusBody(404, 'NotFound', { name: KEY.name }) });
    assert.deepEqual(await access.deleteDaemonSet(KEY), { kind: 'missing' });
    assert.deepEqual(await access.getDaemonSet(KEY), { kind: 'missing' });
  });

  it('calls everything else unavailable', async () => {
    answer({ status: 409, body: statusBody(409, 'AlreadyExists', { name: KEY.name }) });
    const taken = await access.createDaemonSet({ ...KEY, body: {} });
    assert.ok(taken.kind === 'unavailable' && taken.isRefused);
    answer({ status: 500, body: statusBody(500, 'InternalError') });
    const failed = await access.createDaemonSet({ ...KEY, body: {} });
    assert.ok(failed.kind === 'unavailable' && !failed.isRefused);
    const named = await access.getDaemonSet({ ...KEY, name: '../nodes' });
    assert.ok(named.kind === 'unavailable' && named.isRefused);
  });
});
