/** The Warnings about one pod over a scripted server: one short list, read as far as it can be. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readPodEvents } from '../../../../../src/adapters/kubernetes/api/list-pages.ts';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedAnswer, ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

const TOLD_MS = Date.parse('2026-01-01T00:00:00Z');

describe('the Warnings about a pod', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  after(() => server.close());

  function read(answer: ScriptedAnswer, uid = 'uid-1', pauseMs = 0) {
    server.requests.length = 0;
    server.answerWith((_request, response) => {
      answerJson(response, answer);
    });
    const transport = new HttpsTransport({
      endpoint: { host: '127.0.0.1', port: server.port, pathPrefix: '' },
      caPem: server.caPem,
      credential: staticBearer('token'),
      clock: createHeldTimers(),
    });
    const pressure = { remainingMs: () => pauseMs };
    const means = { send: transport.send.bind(transport), pressure };
    return readPodEvents({ namespace: 'agents', uid }, means).finally(() => {
      transport.retire();
    });
  }

  const warning = (fields: object) => ({
    metadata: { name: 'e-1', namespace: 'agents', uid: 'uid-of-e', resourceVersion: '12' },
    reason: 'FailedMount',
    ...fields,
  });
  const list = (...items: readonly object[]): ScriptedAnswer => ({
    status: 200,
    body: { kind: 'EventList', metadata: { resourceVersion: '9' }, items },
  });

  it('are one short list by its UID', async () => {
    const found = await read(
      list(
        warning({ message: 'm'.repeat(2000), lastTimestamp: '2026-01-01T00:00:00Z' }),
        warning({ message: 'b', eventTime: '2026-01-01T00:00:01.5Z', lastTimestamp: null }),
        warning({ message: 'c', series: { lastObservedTime: '2026-01-01T00:00:02Z' } }),
        warning({ message: 7, reason: null }),
        warning({ message: null }),
      ),
    );
    assert.ok(found.kind === 'found');
    assert.deepEqual(found.object, [
      { reason: 'FailedMount', message: 'm'.repeat(1024), atMs: TOLD_MS },
      { reason: 'FailedMount', message: 'b', atMs: TOLD_MS + 1500 },
      { reason: 'FailedMount', message: 'c', atMs: TOLD_MS + 2000 },
      { reason: 'FailedMount', message: '' },
    ]);
    const query = 'fieldSelector=involvedObject.uid%3Duid-1%2Ctype%3DWarning&limit=20';
    assert.deepEqual(
      server.requests.map(({ path }) => path),
      [`/api/v1/namespaces/agents/events?${query}`],
    );
  });

  it('are unavailable where they cannot be read, or are no list', async () => {
    const refused = await read({ status: 403, body: statusBody(403, 'Forbidden') });
    assert.ok(refused.kind === 'unavailable' && refused.isRefused);
    assert.equal((await read(list({}))).kind, 'unavailable');
  });

  it('wait for a server that wants to be left alone', async () => {
    const held = await read(list(), 'uid-1', 700);
    assert.ok(held.kind === 'unavailable' && held.retryAfterMs === 700);
    assert.equal(server.requests.length, 0);
  });

  it('are not asked for by what is no UID', async () => {
    const none = await read(list(), 'x,type=Normal');
    assert.ok(none.kind === 'unavailable' && none.isRefused);
    assert.equal(server.requests.length, 0);
  });
});
