/** One renewal: what is sent, and where it stops (S6, S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readTokenClaims } from '../../../src/adapters/kubernetes/token-claims.ts';
import type { CredentialMessage } from '../../../src/core/model/credential-message.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { SendOutcome } from '../../../src/ports/queue.ts';
import type { TokenMint } from '../../../src/ports/token-mint.ts';
import { renewCredential } from '../../../src/watcher/renew-credential.ts';
import type { RenewalDependencies } from '../../../src/watcher/renew-credential.ts';
import { LocalSeal } from '../../support/local-seal.ts';
import { serviceAccountToken } from '../../support/service-account-token.ts';

const WEST = clusterId('west');
const UID = clusterUid('uid-1');
const TOKEN = serviceAccountToken({ iat: 1_700_000_000, exp: 1_700_014_400 }, 'canary4f1b2c');

function mintOf(changes: Partial<TokenMint> = {}): TokenMint {
  return {
    readClusterUid: () => Promise.resolve({ kind: 'found', object: UID }),
    mint: () => Promise.resolve({ kind: 'minted', token: TOKEN }),
    ...changes,
  };
}

function dependenciesWith(changes: Partial<RenewalDependencies> = {}): {
  readonly seal: LocalSeal;
  readonly sent: CredentialMessage[];
  readonly dependencies: RenewalDependencies;
} {
  const seal = new LocalSeal();
  const sent: CredentialMessage[] = [];
  const send = (message: CredentialMessage): Promise<SendOutcome> => {
    sent.push(message);
    return Promise.resolve({ kind: 'accepted' });
  };
  const base = { cluster: WEST, mint: mintOf(), readClaims: readTokenClaims, seal };
  return { seal, sent, dependencies: { ...base, queue: { send }, ...changes } };
}

describe('a renewal', () => {
  it('seals the token for the cluster that it found itself in, and sends it once', async () => {
    const { seal, sent, dependencies } = dependenciesWith();
    const times = { issuedAtMs: 1_700_000_000_000, expiresAtMs: 1_700_014_400_000 };
    const result = await renewCredential(dependencies);
    assert.deepEqual(result, { kind: 'sent', clusterUid: UID, ...times });
    assert.equal(sent.length, 1);
    const [{ ciphertext, ...rest } = assert.fail()] = sent;
    assert.deepEqual(rest, { schema: 1, cluster: WEST, clusterUid: UID, ...times });
    const opened = await seal.open(ciphertext, { cluster: WEST, clusterUid: UID });
    assert.deepEqual(opened, { kind: 'opened', text: TOKEN });
    const another = await seal.open(ciphertext, { cluster: clusterId('east'), clusterUid: UID });
    assert.equal(another.kind, 'refused');
    assert.ok(!inspect([result, sent], { depth: 9 }).includes('canary4f1b2c'));
  });

  const unavailable = { kind: 'unavailable', message: 'HTTP 403', isRefused: true } as const;
  const foreign = serviceAccountToken({ sub: 'system:serviceaccount:a:b', iat: 1, exp: 2 });
  const failures: Readonly<
    Record<string, readonly [string, RegExp, Partial<RenewalDependencies>]>
  > = {
    'the identity cannot be read': [
      'identity',
      /^HTTP 403$/,
      { mint: mintOf({ readClusterUid: () => Promise.resolve(unavailable) }) },
    ],
    'there is no kube-system': [
      'identity',
      /no namespace kube-system/,
      { mint: mintOf({ readClusterUid: () => Promise.resolve({ kind: 'missing' }) }) },
    ],
    'no token is made': [
      'mint',
      /^HTTP 404$/,
      { mint: mintOf({ mint: () => Promise.resolve({ kind: 'refused', message: 'HTTP 404' }) }) },
    ],
    'the token has another form': [
      'token',
      /another form/,
      { mint: mintOf({ mint: () => Promise.resolve({ kind: 'minted', token: 'opaque' }) }) },
    ],
    'the token is of somebody else': [
      'token',
      /somebody else/,
      { mint: mintOf({ mint: () => Promise.resolve({ kind: 'minted', token: foreign }) }) },
    ],
    'the key may not be used': [
      'seal',
      /access-denied/,
      { seal: Object.assign(new LocalSeal(), { refusal: 'access-denied' }) },
    ],
    'the queue does not take it': [
      'send',
      /^unsent: HTTP 403 AccessDenied$/,
      {
        queue: {
          send: () => Promise.resolve({ kind: 'unsent', message: 'HTTP 403 AccessDenied' }),
        },
      },
    ],
  };
  for (const [title, [step, message, changes]] of Object.entries(failures)) {
    it(`ends where ${title}, says so, and sends nothing`, async () => {
      const { sent, dependencies } = dependenciesWith(changes);
      const result = await renewCredential(dependencies);
      assert.ok(result.kind === 'failed');
      assert.equal(result.step, step);
      assert.match(result.message, message);
      assert.deepEqual(sent, []);
      assert.ok(!inspect(result).includes('canary4f1b2c'));
    });
  }
});
