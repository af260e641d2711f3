/** What of a cluster's token issuer is published, and what never is. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  findUnpublished,
  isPublicIssuer,
  issuerDocuments,
  readKeys,
} from '../../../../src/core/issuer/issuer-documents.ts';
import type { SigningKey } from '../../../../src/core/issuer/issuer-documents.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicJwk: JsonObject = {
  ...(pair.publicKey.export({ format: 'jwk' }) as JsonObject),
  use: 'sig',
  alg: 'RS256',
  kid: 'first',
};

function keysOf(...jwks: readonly JsonObject[]): readonly SigningKey[] {
  const read = readKeys({ keys: jwks });
  assert.equal(read.kind, 'keys');
  return read.kind === 'keys' ? read.keys : [];
}

describe('the keys of an issuer', () => {
  it('are published with what checks a signature, and nothing else', () => {
    const [discovery, keys] = issuerDocuments(
      'https://oidc.example.com/c1',
      keysOf({ ...publicJwk, 'x-comment': 'from the vault' }),
    );
    assert.deepEqual(keys, { path: '/openid/v1/jwks', content: { keys: [publicJwk] } });
    assert.equal(discovery.path, '/.well-known/openid-configuration');
    assert.deepEqual(discovery.content, {
      issuer: 'https://oidc.example.com/c1',
      jwks_uri: 'https://oidc.example.com/c1/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
  });

  it('are refused where a private one is among them, with the name of the field', () => {
    const secret = { ...(pair.privateKey.export({ format: 'jwk' }) as JsonObject), kid: 'second' };
    const read = readKeys({ keys: [publicJwk, secret] });
    assert.deepEqual(read, {
      kind: 'refused',
      field: 'keys[1].d',
      why: 'it is part of a private key',
    });
    const shared = readKeys({ keys: [{ kty: 'oct', kid: 'third', k: 'c2VjcmV0' }] });
    assert.equal(shared.kind === 'refused' && shared.field, 'keys[0].k');
  });

  it('are refused where no token could name one', () => {
    const nameless: JsonObject = { ...publicJwk, kid: '' };
    const tooMany = { keys: Array.from({ length: 65 }, () => publicJwk) };
    for (const [document, field] of [
      [{ keys: [nameless] }, 'keys[0].kid'],
      [{ keys: ['text'] }, 'keys[0]'],
      [{ keys: [] }, 'keys'],
      [{}, 'keys'],
      [tooMany, 'keys'],
    ] as const) {
      const read = readKeys(document);
      assert.equal(read.kind === 'refused' && read.field, field);
    }
  });

  it('are missing where the id, or the key behind it, is another one', () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    const renewed: JsonObject = {
      ...publicJwk,
      ...(other.export({ format: 'jwk' }) as JsonObject),
    };
    const second: JsonObject = { ...publicJwk, kid: 'second' };
    assert.deepEqual(findUnpublished(keysOf(publicJwk), keysOf(publicJwk, second)), []);
    assert.deepEqual(findUnpublished(keysOf(publicJwk, second), keysOf(publicJwk)), ['second']);
    assert.deepEqual(findUnpublished(keysOf(renewed), keysOf(publicJwk)), ['first']);
  });
});

describe('an issuer that AWS reads', () => {
  it('is a public https address without a port', () => {
    for (const issuer of [
      'https://oidc.eks.eu-west-1.amazonaws.com/id/0123456789ABCDEF',
      'https://container.googleapis.com/v1/projects/p/locations/l/clusters/c',
      'https://westeurope.oic.prod-aks.azure.com/11111111-2222/33333333-4444/',
      'https://oidc.example.com',
    ]) {
      assert.equal(isPublicIssuer(issuer), true, issuer);
    }
    for (const issuer of [
      'https://kubernetes.default.svc',
      'https://kubernetes.default.svc.cluster.local',
      'https://issuer.internal',
      'https://localhost',
      'https://10.0.0.1',
      'https://oidc.example.com:6443',
      'http://oidc.example.com',
      'https://ann@oidc.example.com',
      'https://oidc.example.com/?a=b',
      'issuer',
    ]) {
      assert.equal(isPublicIssuer(issuer), false, issuer);
    }
  });
});
