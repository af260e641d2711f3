/** Whose token is kept, and what becomes of the others (S6, S11, L4). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readTokenClaims } from '../../../../src/adapters/kubernetes/credentials/token-claims.ts';
import {
  acceptCredential,
  type CredentialResult,
  refuseCredential,
} from '../../../../src/app/credential/accept-credential.ts';
import type { CredentialMessage } from '../../../../src/core/model/watcher-message.ts';
import { clusterId, clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import {
  subjectOf,
  type CredentialStore,
  type SealContext,
  type SealedToken,
  type TokenPurpose,
} from '../../../../src/ports/stores/credential-store.ts';
import { LocalSeal } from '../../../support/local-seal.ts';
import { RegistryInProcess } from '../../../support/registry-in-process.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from '../../../support/memory-metrics.ts';
import { MemoryRegistryStore } from '../../../support/memory-registry-store.ts';
import { serviceAccountToken, type TokenContent } from '../../../support/service-account-token.ts';
import { registrationOf } from '../../../support/store-suite.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const WEST = clusterId('west');
const UID = clusterUid('uid-of-west');
const RENEWER = 'AROARENEWER';
const HOUR_S = 3600;

function world(): {
  readonly clock: VirtualClock;
  readonly registry: MemoryRegistryStore;
  readonly credentials: CredentialStore;
  readonly seal: LocalSeal;
  readonly log: MemoryLog;
  readonly metrics: MemoryMetrics;
} {
  const registry = new MemoryRegistryStore();
  registry.seed(boundToken('west'));
  return {
    clock: new VirtualClock(),
    registry,
    credentials: new RegistryInProcess().credentials,
    seal: new LocalSeal(),
    log: new MemoryLog(),
    metrics: new MemoryMetrics(),
  };
}

function boundToken(id: string): ClusterRegistration {
  return {
    ...registrationOf(id),
    senderRoleId: 'AROAWATCHER',
    authentication: { kind: 'bound-token', renewerRoleId: RENEWER },
  };
}

describe('accepting a sealed token', () => {
  let at: ReturnType<typeof world>;
  beforeEach(() => {
    at = world();
  });

  const nowS = (): number => Math.floor(at.clock.nowMs() / 1000);
  const tokenOf = (content: TokenContent = {}): string =>
    serviceAccountToken({ iat: nowS(), exp: nowS() + 4 * HOUR_S, ...content });

  async function messageOf(
    text: string,
    changes: Partial<CredentialMessage> & { readonly context?: SealContext } = {},
  ): Promise<CredentialMessage> {
    const { context = { cluster: WEST, clusterUid: UID, purpose: 'act' }, ...rest } = changes;
    const sealed = await at.seal.seal(text, context);
    assert.ok(sealed.kind === 'sealed');
    return {
      schema: 1,
      cluster: WEST,
      clusterUid: UID,
      purpose: 'act',
      ciphertext: sealed.ciphertext,
      issuedAtMs: nowS() * 1000,
      expiresAtMs: (nowS() + 4 * HOUR_S) * 1000,
      ...rest,
    };
  }

  const kept = (purpose: TokenPurpose = 'act'): Promise<SealedToken | undefined> =>
    at.credentials.readToken(WEST, purpose);
  const accept = (message: CredentialMessage): Promise<CredentialResult> =>
    acceptFrom(RENEWER, message);
  const acceptFrom = (
    senderRoleId: string | undefined,
    message: CredentialMessage,
  ): Promise<CredentialResult> =>
    acceptCredential(
      message,
      { messageId: 'm-1', sentAtMs: at.clock.nowMs(), senderRoleId },
      { ...at, readClaims: readTokenClaims },
    );

  it('keeps the ciphertext with the times that the token itself tells, and nothing else of it', async () => {
    const message = await messageOf(tokenOf(), { issuedAtMs: 1 });
    assert.deepEqual(await accept(message), { kind: 'stored' });
    const { ciphertext, expiresAtMs } = message;
    const issuedAtMs = nowS() * 1000;
    const expected = { clusterUid: UID, ciphertext, issuedAtMs, expiresAtMs };
    assert.deepEqual(await kept(), expected);
    assert.deepEqual(await accept(message), { kind: 'older' }, 'a redelivery changes nothing');
    assert.equal(at.metrics.sum('CredentialMessages', 'stored'), 1);
    assert.equal(at.metrics.sum('CredentialMessages', 'older'), 1);
    assert.equal(at.registry.refusals.size, 0);
  });

  it('keeps one that may only ask apart, and takes no token for another purpose than its own (B.3)', async () => {
    const asks = { cluster: WEST, clusterUid: UID, purpose: 'ask' } as const;
    const asking = tokenOf({ sub: subjectOf('ask') });
    const message = await messageOf(asking, { context: asks, purpose: 'ask' });
    assert.deepEqual(await accept(message), { kind: 'stored' });
    assert.equal(await kept(), undefined);
    assert.equal((await kept('ask'))?.ciphertext, message.ciphertext);
    // Tokens in each other's place, and a message that states another purpose than the seal.
    const acting = await messageOf(tokenOf(), { context: asks, purpose: 'ask' });
    assert.deepEqual(await accept(acting), { kind: 'refused', code: 'token-subject' });
    assert.deepEqual(await accept(await messageOf(asking)), {
      kind: 'refused',
      code: 'token-subject',
    });
    assert.deepEqual(await accept({ ...message, purpose: 'act' }), {
      kind: 'refused',
      code: 'invalid-ciphertext',
    });
  });

  it('keeps a newer one, and never an older one after it', async () => {
    const older = await messageOf(tokenOf());
    await at.clock.advance(1000);
    const newer = await messageOf(tokenOf());
    assert.deepEqual(await accept(newer), { kind: 'stored' });
    assert.deepEqual(await accept(older), { kind: 'older' });
    assert.equal((await kept())?.ciphertext, newer.ciphertext);
  });

  /** What is refused: code, and what is different. */
  const refusals: readonly {
    readonly title: string;
    readonly code: string;
    readonly of: () => Promise<CredentialMessage>;
    readonly sender?: string;
    readonly isUnverified?: true;
  }[] = [
    {
      title: 'of a cluster that nobody knows',
      code: 'unknown-cluster',
      of: () => messageOf(tokenOf(), { cluster: clusterId('east') }),
      isUnverified: true,
    },
    {
      title: 'for a cluster with another kind of credential',
      code: 'not-bound-token',
      of: () => {
        at.registry.seed({ ...boundToken('west'), authentication: { kind: 'none' } });
        return messageOf(tokenOf());
      },
      isUnverified: true,
    },
    {
      title: 'sent by the watcher, which may watch and no more',
      code: 'wrong-sender',
      sender: 'AROAWATCHER',
      of: () => messageOf(tokenOf()),
      isUnverified: true,
    },
    {
      title: 'for the cluster that was here before',
      code: 'wrong-cluster-uid',
      of: () => messageOf(tokenOf(), { clusterUid: clusterUid('u-old') }),
    },
    {
      title: 'that waited until its token ended',
      code: 'token-expired',
      of: () => messageOf(tokenOf(), { expiresAtMs: at.clock.nowMs() }),
    },
    {
      title: 'sealed for another cluster',
      code: 'invalid-ciphertext',
      of: () =>
        messageOf(tokenOf(), {
          context: { cluster: clusterId('east'), clusterUid: UID, purpose: 'act' },
        }),
    },
    {
      title: 'sealed by another key',
      code: 'wrong-key',
      of: async () => {
        const other = await new LocalSeal().seal(tokenOf(), {
          cluster: WEST,
          clusterUid: UID,
          purpose: 'act',
        });
        assert.ok(other.kind === 'sealed');
        return messageOf(tokenOf(), { ciphertext: other.ciphertext });
      },
    },
    {
      title: 'with something else than a token',
      code: 'token-malformed',
      of: () => messageOf('hunter2'),
    },
    {
      title: 'with a token that does not say when it ends',
      code: 'token-malformed',
      of: () => messageOf(tokenOf({ exp: 'never' })),
    },
    {
      title: 'with the token of an administrator',
      code: 'token-subject',
      of: () => messageOf(tokenOf({ sub: 'system:serviceaccount:kube-system:admin' })),
    },
    {
      title: 'with a token that has ended, whatever the message says',
      code: 'token-expired',
      of: () => messageOf(tokenOf({ iat: nowS() - 2 * HOUR_S, exp: nowS() })),
    },
    {
      title: 'with a token of the future, which would keep newer ones out',
      code: 'token-times',
      of: () => messageOf(tokenOf({ iat: nowS() + 301 })),
    },
    {
      title: 'with a token for longer than a day',
      code: 'token-times',
      of: () => messageOf(tokenOf({ exp: nowS() + 26 * HOUR_S })),
    },
    {
      title: 'with a token that ends before it begins',
      code: 'token-times',
      of: () => messageOf(tokenOf({ iat: nowS() + 200, exp: nowS() + 100 })),
    },
  ];
  for (const { title, code, of, sender = RENEWER, isUnverified } of refusals) {
    it(`refuses one ${title}: ${code}, told once, nothing kept (S6, L4)`, async () => {
      const message = await of();
      assert.deepEqual(await acceptFrom(sender, message), { kind: 'refused', code });
      assert.equal(await kept(), undefined);
      assert.equal(at.metrics.sum('CredentialRefusals', code), 1);
      const lines = at.log.lines.filter(({ level }) => level === 'warn');
      assert.equal(lines.length, 1);
      const notes = [...at.registry.refusals.values()];
      assert.equal(notes.length, 1);
      const [note] = notes;
      assert.equal(note?.queue, 'credentials');
      assert.equal(note.code, code);
      assert.equal(note.cluster, message.cluster);
      assert.equal(note.sender, isUnverified === true ? 'unverified' : 'verified');
      assert.equal(note.senderRoleId, sender);
      const told = inspect([notes, at.log.lines], { depth: 9 });
      assert.ok(!told.includes(message.ciphertext), 'not even the ciphertext');
    });
  }

  it('opens nothing before it knows that the sender may speak for the cluster (S6)', async () => {
    await acceptFrom('AROAWATCHER', await messageOf(tokenOf()));
    await acceptFrom(undefined, await messageOf(tokenOf()));
    await accept(await messageOf(tokenOf(), { clusterUid: clusterUid('u-old') }));
    assert.equal(at.metrics.sum('CredentialRefusals'), 3);
    assert.deepEqual(at.seal.opened, []);
  });

  it('keeps nothing of a body that cannot be read: it may be a token', async () => {
    const origin = { messageId: 'm-1', sentAtMs: 1, senderRoleId: 'AROAANY' };
    await refuseCredential({ code: 'undecodable' }, origin, at);
    const [note] = at.registry.refusals.values();
    assert.deepEqual(note, {
      ...{ cluster: '', sender: 'unverified', senderRoleId: 'AROAANY', queue: 'credentials' },
      ...{ code: 'undecodable', detail: '', atMs: 1 },
    });
  });

  it('lets a message come again when the key may not be used, or does not answer (F16a)', async () => {
    const message = await messageOf(tokenOf());
    for (const refusal of ['access-denied', 'key-unavailable'] as const) {
      at.seal.refusal = refusal;
      await assert.rejects(accept(message), { name: 'SealNotUsableError' });
    }
    at.seal.refusal = undefined;
    at.seal.failure = new Error('no answer');
    await assert.rejects(accept(message), /no answer/);
    assert.equal(at.registry.refusals.size, 0);
    at.seal.failure = undefined;
    assert.deepEqual(await accept(message), { kind: 'stored' });
  });
});
