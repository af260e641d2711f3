/** `rollcall cluster issuer`: what it prints and writes, and what it refuses. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Json } from '@rollcall/base/json.ts';
import type { TransportRequest } from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { CommandWorld } from '../../../../support/command-world.ts';
import { operatorPlace } from '../../../../support/operator-place.ts';

const ISSUER = 'https://oidc.example.com/edge-7';
const KEY = { kty: 'RSA', kid: 'first', alg: 'RS256', n: 'AQAB', e: 'AQAB' };

/** An API server that shows these documents, to a user who may see them. */
function worldOf(shown: { readonly issuer?: string; readonly keys?: Json }): CommandWorld {
  const world = new CommandWorld();
  const bodies: Readonly<Record<string, Json | undefined>> = {
    '/.well-known/openid-configuration': {
      issuer: shown.issuer ?? 'https://kubernetes.default.svc',
    },
    '/openid/v1/jwks': shown.keys,
  };
  const send = ({ path }: TransportRequest) => {
    const body = bodies[path];
    return Promise.resolve({
      kind: 'answered' as const,
      status: body === undefined ? 403 : 200,
      body,
    });
  };
  world.cluster = { ...operatorPlace('uid-of-edge-7', world.clock), transport: { send } };
  return world;
}

const standing = { keys: { keys: [KEY] } };

describe('rollcall cluster issuer', () => {
  it('writes both documents where they are published from, and says what is left to do', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'issuer-'));
    try {
      const argv = ['cluster', 'issuer', '--issuer', `${ISSUER}/`, '--out', directory];
      const { stdout } = (await worldOf(standing).run(argv)).expectExit(0);
      const read = (file: string): unknown =>
        JSON.parse(readFileSync(join(directory, file), 'utf8'));
      assert.deepEqual(read('openid/v1/jwks'), { keys: [KEY] });
      assert.deepEqual(read('.well-known/openid-configuration'), {
        issuer: ISSUER,
        jwks_uri: `${ISSUER}/openid/v1/jwks`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
      assert.match(
        stdout,
        /--service-account-issuer=https:\/\/oidc\.example\.com\/edge-7 --service-account-issuer=https:\/\/kubernetes\.default\.svc/,
      );
      assert.match(stdout, /cluster add ID --oidc-issuer https:\/\/oidc\.example\.com\/edge-7/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('prints them, and no flags, where the API server names the issuer already', async () => {
    const world = worldOf({ ...standing, issuer: ISSUER });
    const run = (await world.run(['cluster', 'issuer'])).expectExit(0);
    assert.match(run.stdout, /^https:\/\/oidc\.example\.com\/edge-7\/openid\/v1\/jwks$/m);
    assert.doesNotMatch(run.stdout, /--service-account-issuer/);
    const json = (await world.run(['cluster', 'issuer', '--json'])).expectExit(0).document();
    assert.deepEqual(
      [json['kind'], json['issuer'], json['keyIds']],
      ['ClusterIssuer', ISSUER, ['first']],
    );
  });

  it('refuses an address from which AWS reads nothing', async () => {
    const { stderr } = (await worldOf(standing).run(['cluster', 'issuer'])).expectExit(2);
    assert.match(stderr, /AWS cannot read documents at https:\/\/kubernetes\.default\.svc/);
    assert.match(stderr, /Pass --issuer/);
  });

  it('never writes a private key', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'issuer-'));
    try {
      const world = worldOf({ keys: { keys: [{ ...KEY, d: 'c2VjcmV0' }] } });
      const argv = ['cluster', 'issuer', '--issuer', ISSUER, '--out', directory];
      const { stdout, stderr } = (await world.run(argv)).expectExit(1);
      assert.match(stderr, /keys\[0\]\.d: it is part of a private key/);
      assert.ok(!`${stdout}${stderr}`.includes('c2VjcmV0'));
      assert.deepEqual(readdirSync(directory), []);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('says whose right is missing where the API server does not show them', async () => {
    const { stderr } = (
      await worldOf({}).run(['cluster', 'issuer', '--issuer', ISSUER])
    ).expectExit(1);
    assert.match(stderr, /does not show \/openid\/v1\/jwks: HTTP 403/);
    assert.match(stderr, /system:service-account-issuer-discovery/);
  });
});
