/** What handing back needs of an API server, over a scripted one. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { createHandBackAccess } from '../../../../../src/adapters/kubernetes/operator/hand-back-access.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { HandBackAccess } from '../../../../../src/ports/cluster/hand-back-access.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedAnswer, ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

function daemonSetNamed(name: string): DaemonSetObject {
  return {
    metadata: { namespace: 'system', name, uid: `uid-${name}`, resourceVersion: '5' },
    spec: { template: {} },
  };
}

describe('hand-back access', () => {
  let server: ScriptedApiServer;
  let access: HandBackAccess;
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

  /** Gives these answers in turn; the last one again and again. */
  function answer(...answers: readonly ScriptedAnswer[]): void {
    server.requests.length = 0;
    server.answerWith((_request, response) => {
      const next = answers[Math.min(server.requests.length, answers.length) - 1];
      if (next !== undefined) answerJson(response, next);
    });
  }

  it('lists all pages', async () => {
    const [first, second] = [daemonSetNamed('one'), daemonSetNamed('two')];
    answer(
      { status: 200, body: { metadata: { continue: 'next' }, items: [first] } },
      { status: 200, body: { metadata: {}, items: [second] } },
    );
    assert.deepEqual(await access.listDaemonSets(), { kind: 'found', object: [first, second] });
    assert.match(server.requests[1]?.path ?? '', /limit=500&continue=next$/);
  });

  it('has no list when a page fails or holds something else', async () => {
    const page = { status: 200, body: { metadata: { continue: 'next' }, items: [] } };
    answer(page, { status: 410, body: statusBody(410, 'Expired') });
    assert.equal((await access.listDaemonSets()).kind, 'unavailable');
    const { metadata } = daemonSetNamed('one');
    answer({ status: 200, body: { metadata: {}, items: [{ metadata }] } });
    assert.equal((await access.listDaemonSets()).kind, 'unavailable');
  });

  it('replaces conditions of the very object that was read, and removes them when none is left', async () => {
    answer({ status: 200, body: daemonSetNamed('one') });
    const foreign = { type: 'Foreign', status: 'True' };
    const write = await access.replaceConditions(daemonSetNamed('one'), [foreign]);
    assert.deepEqual(write, { kind: 'written' });
    const [request] = server.requests;
    assert.equal(request?.method, 'PATCH');
    assert.equal(request.path, '/apis/apps/v1/namespaces/system/daemonsets/one/status');
    assert.equal(request.headers['content-type'], 'application/merge-patch+json');
    assert.deepEqual(JSON.parse(request.body), {
      metadata: { uid: 'uid-one', resourceVersion: '5' },
      status: { conditions: [foreign] },
    });
    await access.replaceConditions(daemonSetNamed('one'), []);
    const { status } = JSON.parse(server.requests[1]?.body ?? '') as { status: unknown };
    assert.deepEqual(status, { conditions: null });
  });

  it('tells an object that changed or went from a failure', async () => {
    const write = (): ReturnType<HandBackAccess['replaceConditions']> =>
      access.replaceConditions(daemonSetNamed('one'), []);
    answer({ status: 409, body: statusBody(409, 'Conflict', { name: 'one' }) });
    assert.deepEqual(await write(), { kind: 'changed' });
    answer({ status: 404, body: statusBody(404, 'NotFound', { name: 'one' }) });
    assert.deepEqual(await write(), { kind: 'changed' });
    answer({ status: 403, body: statusBody(403, 'Forbidden', { name: 'one' }) });
    assert.equal((await write()).kind, 'failed');
  });
});
