/** Asking a watcher for a snapshot through its Lease: the own installation's, and no other (protocol 14, ADR 0024). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpsClusterAccess } from '../../../../../src/adapters/kubernetes/api/cluster-access.ts';
import { staticBearer } from '../../../../../src/adapters/kubernetes/credentials/token-source.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

const clock = createHeldTimers();

describe('a request for a snapshot', () => {
  let server: ScriptedApiServer;
  before(async () => {
    server = await startScriptedApiServer();
  });
  after(() => server.close());

  for (const [title, holders, patches] of [
    ['writes nothing to a Lease that another installation holds', ['b'], 0],
    ['writes nothing to one that another installation takes meanwhile', ['a', 'b'], 1],
    ['is repeated where the own watcher renewed meanwhile', ['a', 'a'], 2],
  ] as const) {
    it(title, async () => {
      let reads = 0;
      server.requests.length = 0;
      server.answerWith((request, response) => {
        if (request.method === 'PATCH') {
          const isLate = reads < holders.length;
          const body = isLate ? statusBody(409, 'Conflict', {}) : {};
          answerJson(response, { status: isLate ? 409 : 200, body });
          return;
        }
        const annotations = { 'rollcall.dev/installation': holders[reads] };
        reads += 1;
        const named = { name: 'rollcall-watcher', namespace: 'rollcall-system', uid: 'u' };
        const metadata = { ...named, resourceVersion: String(reads), annotations };
        answerJson(response, { status: 200, body: { kind: 'Lease', metadata } });
      });
      const access = new HttpsClusterAccess({
        transport: new HttpsTransport({
          endpoint: { host: '127.0.0.1', port: server.port, pathPrefix: '' },
          caPem: server.caPem,
          credential: staticBearer('token'),
          clock,
        }),
        clock,
        concurrencyMax: 64,
        refreshCredential: () => false,
        installation: 'a',
      });
      const answer = await access.requestSnapshot('request-7');
      assert.equal(answer.kind, holders.at(-1) === 'a' ? 'found' : 'missing');
      const sent = server.requests.filter(({ method }) => method === 'PATCH');
      assert.equal(sent.length, patches);
      for (const [index, { body }] of sent.entries()) {
        const { metadata } = JSON.parse(body) as { metadata: { resourceVersion: string } };
        assert.equal(metadata.resourceVersion, String(index + 1), 'under the version it read');
      }
    });
  }
});
