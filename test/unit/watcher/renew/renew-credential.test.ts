/** One renewal: what is sent, and where it stops (S6, S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readTokenClaims } from '../../../../src/adapters/kubernetes/credentials/token-claims.ts';
import type { CredentialMessage } from '../../../../src/core/model/watcher-message.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import { subjectOf } from '../../../../src/ports/stores/credential-store.ts';
import type { TokenPurpose } from '../../../../src/ports/stores/credential-store.ts';
import type { SendOutcome } from '../../../../src/ports/queues/queue.ts';
import type { TokenMint } from '../../../../src/ports/cluster/token-mint.ts';
import { renewCredentials } from '../../../../src/watcher/renew/renew-credential.ts';
import type { RenewalDependencies } from '../../../../src/watcher/renew/renew-credential.ts';
import { LocalSeal } from '../../../support/local-seal.ts';
import { serviceAccountToken } from '../../../support/service-account-token.ts';

const WEST = clusterId('west');
const UID = clusterUid('uid-1');
const CLAIMS = { iat: 1_700_000_000, exp: 1_700_014_400 };
const TOKENS: Readonly<Record<TokenPurpose, string>> = {
  act: serviceAccountToken({ ...CLAIMS, sub: subjectOf('act') }, 'canary4f1b2c'),
  ask: serviceAccountToken({ ...CLAIMS, sub: subjectOf('ask') }, 'canary4f1b2c'),
};

function mintOf(changes: Partial<TokenMint> = {}): TokenMint {
  return {
    readClusterUid: () => Promise.resolve({ kind: 'found', object: UID }),
    mint: (purpose) => Promise.resolve({ kind: 'minted', token: TOKENS[purpose] }),
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
  it('seals two tokens for the cluster that it found itself in, one to act and one to ask, and sends each once (B.3)', async () => {
    const { seal, sent, dependencies } = dependenciesWith();
    const times = { issuedAtMs: 1_700_000_000_000, expiresAtMs: 1_700_014_400_000 };
    const result = await renewCredentials(dependencies);
    assert.deepEqual(result, { kind: 'sent', clusterUid: UID, ...times });
    const rest = { schema: 1, cluster: WEST, clusterUid: UID, ...times };
    const [acting = assert.fail(), asking = assert.fail()] = sent;
    assert.equal(sent.length, 2);
    assert.deepEqual(acting, { ...rest, purpose: 'act', ciphertext: acting.ciphertext });
    assert.deepEqual(asking, { ...rest, purpose: 'ask', ciphertext: asking.ciphertext });
    const context = { cluster: WEST, clusterUid: UID };
    for (const [message, purpose, other] of [
      [acting, 'act', 'ask'],
      [asking, 'ask', 'act'],
    ] as const) {
      const opened = await seal.open(message.ciphertext, { ...context, purpose });
      assert.deepEqual(opened, { kind: 'opened', text: TOKENS[purpose] });
      const east = { ...context, cluster: clusterId('east'), purpose };
      assert.equal((await seal.open(message.ciphertext, east)).kind, 'refused');
      const mistaken = await seal.open(message.ciphertext, { ...context, purpose: other });
      assert.equal(mistaken.kind, 'refused');
    }
    assert.ok(!inspect([result, sent], { depth: 9 }).includes('canary4f1b2c'));
  });

  it('has sent the one to act where there is no account to ask by, and says which failed', async () => {
    const mint: TokenMint['mint'] = (purpose) =>
      Promise.resolve(
        purpose === 'act'
          ? { kind: 'minted', token: TOKENS.act }
          : { kind: 'refused', message: 'HTTP 404' },
      );
    const { sent, dependencies } = dependenciesWith({ mint: mintOf({ mint }) });
    const result = await renewCredentials(dependencies);
    assert.deepEqual(result, {
      kind: 'failed',
      step: 'mint',
      message: 'of rollcall-requests: HTTP 404',
    });
    assert.deepEqual(
      sent.map(({ purpose }) => purpose),
      ['act'],
    );
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
    'the token is of another service account': [
      'token',
      /another service account/,
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
      const result = await renewCredentials(dependencies);
      assert.ok(result.kind === 'failed');
      assert.equal(result.step, step);
      assert.match(result.message, message);
      assert.deepEqual(sent, []);
      assert.ok(!inspect(result).includes('canary4f1b2c'));
    });
  }
});
