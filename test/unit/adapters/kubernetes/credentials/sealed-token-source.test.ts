/** Bound tokens, opened and kept while they are good (S6, S11, L3). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { SealedTokenSource } from '../../../../../src/adapters/kubernetes/credentials/sealed-token-source.ts';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { SealContext, SealedToken } from '../../../../../src/ports/stores/credential-store.ts';
import { LocalSeal } from '../../../../support/local-seal.ts';
import { RegistryInProcess } from '../../../../support/registry-in-process.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const context: SealContext = {
  cluster: clusterId('west'),
  clusterUid: clusterUid('u-1'),
  purpose: 'act',
};
const HOUR_MS = 3_600_000;

describe('the bound token of a cluster', () => {
  let clock: VirtualClock;
  let credentials: RegistryInProcess['credentials'];
  let seal: LocalSeal;
  let source: SealedTokenSource;
  beforeEach(() => {
    clock = new VirtualClock();
    ({ credentials } = new RegistryInProcess());
    seal = new LocalSeal();
    source = new SealedTokenSource({ credentials, seal, context, clock });
  });

  /** What a renewer would have sent now. */
  async function send(text: string, changes: Partial<SealedToken> = {}): Promise<void> {
    const made = await seal.seal(text, context);
    assert.ok(made.kind === 'sealed');
    await credentials.writeToken(context.cluster, 'act', {
      clusterUid: context.clusterUid,
      ciphertext: made.ciphertext,
      issuedAtMs: clock.nowMs(),
      expiresAtMs: clock.nowMs() + 4 * HOUR_MS,
      ...changes,
    });
  }
  const readCount = (): number => credentials.calls.filter(({ isWrite }) => !isWrite).length;
  const faultOf = async (): Promise<string> => {
    const state = await source.prepare();
    return state.kind === 'faulty' ? state.fault : state.kind;
  };

  it('is read and opened once, by one caller, and used until a newer one is worth a look', async () => {
    await send('first');
    const tokens = await Promise.all([source.token(), source.token(), source.token()]);
    assert.deepEqual(tokens, ['first', 'first', 'first']);
    await clock.advance(3 * HOUR_MS);
    await send('second');
    assert.equal(await source.token(), 'first');
    assert.equal(readCount(), 1);
    assert.deepEqual(seal.opened, [context]);
    await clock.advance(HOUR_MS - 299_000);
    assert.equal(await source.token(), 'second', 'five minutes before it ends');
    assert.equal(source.generation(), 2, 'whoever verified the cluster with the first asks again');
  });

  it('is used to its end while no newer one can be had, and then says so', async () => {
    await send('only');
    assert.equal(await source.token(), 'only');
    await clock.advance(4 * HOUR_MS - 11_000);
    credentials.hooks = { before: () => Promise.reject(new Error('throttled')) };
    assert.equal(await faultOf(), 'usable');
    assert.equal(await source.token(), 'only');
    credentials.hooks = {};
    await clock.advance(6_000);
    assert.equal(await faultOf(), 'expired');
    await assert.rejects(source.token(), { name: 'NoTokenError', message: 'expired' });
    assert.equal(source.generation(), 1);
  });

  it('that is missing costs a look every five seconds, not one for each key (L3)', async () => {
    const faults = await Promise.all(Array.from({ length: 50 }, () => faultOf()));
    assert.deepEqual(new Set(faults), new Set(['not-sent']));
    await clock.advance(4_999);
    assert.equal(await faultOf(), 'not-sent');
    assert.equal(readCount(), 1);
    await send('late');
    await clock.advance(1);
    assert.equal(await faultOf(), 'usable');
    assert.equal(await source.token(), 'late');
    assert.equal(readCount(), 2);
  });

  it('is not opened when it is of the cluster that was here before (row 90), or has ended', async () => {
    await send('old', { clusterUid: clusterUid('u-0') });
    assert.equal(await faultOf(), 'other-cluster');
    await credentials.removeTokens(context.cluster);
    await send('ended', { expiresAtMs: clock.nowMs() + 5_000 });
    await clock.advance(5_000);
    assert.equal(await faultOf(), 'expired');
    assert.deepEqual(seal.opened, []);
  });

  it('is good, though the key may not be used for a moment: asked again in 5 s (F16a)', async () => {
    await send('sealed');
    for (const refusal of ['access-denied', 'key-unavailable'] as const) {
      seal.refusal = refusal;
      const message = `the sealed token cannot be read: ${refusal}`;
      const unread = { kind: 'unavailable', message, retryAfterMs: 5_000 };
      assert.deepEqual(await source.prepare(), unread);
      await clock.advance(5_000);
    }
    seal.refusal = undefined;
    assert.equal(await faultOf(), 'usable');
    assert.equal(await source.token(), 'sealed');
  });

  it('that cannot be opened is told apart from a store or a key service that does not answer', async () => {
    await send('sealed');
    seal.refusal = 'wrong-key';
    assert.equal(await faultOf(), 'not-opened');
    seal.refusal = undefined;
    seal.failure = Object.assign(new Error('secret'), { name: 'SealUnavailableError' });
    await clock.advance(5_000);
    const message = 'the sealed token cannot be read: SealUnavailableError';
    assert.deepEqual(await source.prepare(), { kind: 'unavailable', message, retryAfterMs: 5_000 });
    await assert.rejects(source.token(), { name: 'NoTokenError', message: 'unavailable' });
    seal.failure = undefined;
    await clock.advance(5_000);
    assert.equal(await source.token(), 'sealed');
  });

  it('that the API server refused is looked for again, and tried once for each look', async () => {
    await send('first');
    assert.equal(await source.token(), 'first');
    assert.equal(source.invalidate(), false, 'it was read a moment ago');
    assert.equal(await faultOf(), 'rejected');
    assert.equal(await source.token(), 'first', 'whoever is connected hears it from the server');
    await clock.advance(5_000);
    assert.equal(await faultOf(), 'usable', 'the same one: a server may have been starting');
    assert.equal(source.generation(), 1);
    assert.equal(source.invalidate(), false);
    assert.equal(await faultOf(), 'rejected');
    await clock.advance(5_000);
    await send('second');
    assert.equal(source.invalidate(), true, 'there may be another one');
    assert.equal(await source.token(), 'second');
    assert.equal(source.generation(), 2);
    assert.equal(readCount(), 3);
  });
});
