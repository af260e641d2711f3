/** Asking for a token: what is sent, what counts as one, and what a refusal may say (S11). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEndpoint } from '../../../../../src/adapters/kubernetes/egress/endpoint.ts';
import { createTokenMint } from '../../../../../src/adapters/kubernetes/api/token-mint.ts';
import { HttpsTransport } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import type { TokenMint } from '../../../../../src/ports/cluster/token-mint.ts';
import { createHeldTimers } from '../../../../support/held-timers.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../../../support/scripted-api-server.ts';

const OWN = 'own-token-5d41402a';

describe('a mint', () => {
  let server: ScriptedApiServer;
  let mint: TokenMint;
  before(async () => {
    server = await startScriptedApiServer();
    const parsed = parseEndpoint(server.url);
    assert.ok(parsed.kind === 'endpoint');
    const transport = new HttpsTransport({
      endpoint: parsed.endpoint,
      caPem: server.caPem,
      credential: { kind: 'bearer', token: () => Promise.resolve(OWN) },
      clock: createHeldTimers(),
    });
    mint = createTokenMint({ transport, lifetimeSeconds: 14_400, audiences: ['a'] });
  });
  after(() => server.close());

  it('asks for a token of rollcall-functions or rollcall-requests, and of nobody else', async () => {
    server.answerWith((_request, response) => {
      answerJson(response, { status: 201, body: { status: { token: 'minted' } } });
    });
    assert.deepEqual(await mint.mint('act'), { kind: 'minted', token: 'minted' });
    assert.deepEqual(await mint.mint('ask'), { kind: 'minted', token: 'minted' });
    const [request, asking] = server.requests.splice(0);
    const accounts = '/api/v1/namespaces/rollcall-system/serviceaccounts';
    assert.equal(asking?.path, `${accounts}/rollcall-requests/token`);
    assert.equal(request?.method, 'POST');
    assert.equal(request.path, `${accounts}/rollcall-functions/token`);
    const { kind, spec } = JSON.parse(request.body) as Record<string, unknown>;
    assert.equal(kind, 'TokenRequest');
    assert.deepEqual(spec, { audiences: ['a'], expirationSeconds: 14_400 });
  });

  it('takes nothing for a token that is none', async () => {
    const bodies = [{}, { status: {} }, { status: { token: '' } }, { status: { token: 1 } }, []];
    for (const body of bodies) {
      server.answerWith((_request, response) => {
        answerJson(response, { status: 201, body });
      });
      const message = 'HTTP 201: no token in the answer';
      assert.deepEqual(await mint.mint('act'), { kind: 'refused', message });
    }
  });

  it('repeats what the API server says, without the token that it was sent', async () => {
    server.answerWith((request, response) => {
      const body = { ...statusBody(403, 'Forbidden'), message: request.headers.authorization };
      answerJson(response, { status: 403, body });
    });
    const minted = await mint.mint('act');
    assert.ok(minted.kind === 'refused');
    assert.match(minted.message, /^HTTP 403 Forbidden/);
    const identity = await mint.readClusterUid();
    assert.ok(identity.kind === 'unavailable');
    assert.ok(!`${minted.message} ${identity.message}`.includes(OWN));
  });
});
