/**
 * The issuer of a real API server, published on a server of our own: a token is checked by the published documents alone, and a key
 * that the cluster has and the publication lacks is told before a token is signed with it.
 */
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { jsonItems, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { issuerDocuments, type SigningKey } from '../../../src/core/issuer/issuer-documents.ts';
import { readIssuer } from '../../../src/cli/cluster/issuer/issuer-command.ts';
import { comparePublished } from '../../../src/cli/checks/read-issuer.ts';
import { staticBearer } from '../../../src/adapters/kubernetes/credentials/token-source.ts';
import { parseEndpoint } from '../../../src/adapters/kubernetes/egress/endpoint.ts';
import { HttpsTransport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { startScriptedApiServer } from '../../support/scripted-api-server.ts';
import type { ScriptedApiServer } from '../../support/scripted-api-server.ts';

const AUDIENCE = 'sts.amazonaws.com';
const clock = createSystemClock({ timers: 'unreferenced' });

describe('the issuer of a cluster that nobody reaches', { timeout: 600_000 }, () => {
  const published = new Map<string, string>();
  let server: ScriptedApiServer;
  let issuer = '';
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let transport: HttpsTransport;

  before(async () => {
    server = await startScriptedApiServer();
    server.answerWith(({ path }, response) => {
      const text = published.get(path);
      response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(text);
    });
    issuer = `${server.url}/edge-7`;
    controlPlane = await startControlPlane({
      loops: 'off',
      auditLog: false,
      issuers: [issuer, 'https://kubernetes.default.svc'],
    });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    const { caPem, tokens } = controlPlane;
    const parsed = parseEndpoint(controlPlane.server);
    assert.ok(parsed.kind === 'endpoint');
    transport = new HttpsTransport({
      endpoint: parsed.endpoint,
      caPem,
      credential: staticBearer(tokens.admin),
      clock,
    });
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'watcher' },
    });
  });
  after(async () => {
    admin.close();
    transport.retire();
    await server.close();
    await controlPlane.stop();
  });

  const keysOfCluster = async (): Promise<readonly SigningKey[]> => {
    const { named, keys } = await readIssuer({ server: controlPlane.server, transport });
    assert.equal(named, issuer);
    return keys;
  };
  const publish = (keys: readonly SigningKey[]): void => {
    for (const { path, content } of issuerDocuments(issuer, keys)) {
      published.set(`/edge-7${path}`, JSON.stringify(content));
    }
  };
  const compare = async () =>
    comparePublished(issuer, await keysOfCluster(), {
      clock,
      egress: { loopback: 'allowed' },
      caPem: server.caPem,
    });
  const mint = async (): Promise<string> => {
    const answer = await admin.post('/api/v1/namespaces/default/serviceaccounts/watcher/token', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [AUDIENCE], expirationSeconds: 600 },
    });
    const token = jsonMember((answer as JsonObject)['status'], 'token');
    assert.ok(typeof token === 'string');
    return token;
  };

  /** As AWS checks it: by the published documents, which name the issuer, and the key that the token names. */
  function isAccepted(token: string): boolean {
    const [head = '', claims = '', signature = ''] = token.split('.');
    const parse = (text: string): Json =>
      JSON.parse(Buffer.from(text, 'base64url').toString()) as Json;
    const discovery = JSON.parse(
      published.get('/edge-7/.well-known/openid-configuration') ?? '{}',
    ) as Json;
    const keys = JSON.parse(published.get('/edge-7/openid/v1/jwks') ?? '{}') as Json;
    const jwk = jsonItems(jsonMember(keys, 'keys')).find(
      (key) => jsonMember(key, 'kid') === jsonMember(parse(head), 'kid'),
    );
    if (jwk === undefined) return false;
    assert.equal(jsonMember(parse(claims), 'iss'), jsonMember(discovery, 'issuer'));
    assert.deepEqual(jsonMember(parse(claims), 'aud'), [AUDIENCE]);
    const key = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' });
    const signed = Buffer.from(`${head}.${claims}`);
    return verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'));
  }

  it('is not found before it is published', async () => {
    const fact = await compare();
    assert.deepEqual(
      [fact.kind, 'why' in fact && fact.why],
      ['unreadable', 'the API server does not know it (404)'],
    );
  });

  it('lets a token be checked by what is published alone', async () => {
    publish(await keysOfCluster());
    assert.deepEqual(await compare(), { kind: 'published', issuer, keyCount: 1, missing: [] });
    assert.equal(isAccepted(await mint()), true);
  });

  it('tells of a new key while the former one still signs, and is in order once it is published', async () => {
    const { signing, accepted } = controlPlane.serviceAccountKeys;
    const renewed = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    appendFileSync(accepted, renewed.publicKey);
    await controlPlane.restart('apiServer');
    const told = await compare();
    assert.ok(told.kind === 'published');
    assert.deepEqual([told.keyCount, told.missing.length], [2, 1]);
    assert.equal(isAccepted(await mint()), true, 'the former key signs');

    writeFileSync(signing, renewed.privateKey, { mode: 0o600 });
    await controlPlane.restart('apiServer');
    const unpublished = await mint();
    assert.equal(isAccepted(unpublished), false, 'nothing published checks the new key');
    publish(await keysOfCluster());
    assert.deepEqual(await compare(), { kind: 'published', issuer, keyCount: 2, missing: [] });
    assert.equal(isAccepted(unpublished), true);
  });

  it('is told where the documents are of another cluster', async () => {
    for (const { path, content } of issuerDocuments(`${issuer}-b`, await keysOfCluster())) {
      published.set(`/edge-7${path}`, JSON.stringify(content));
    }
    assert.deepEqual(await compare(), { kind: 'other', issuer, published: `${issuer}-b` });
  });
});
