/**
 * What every implementation of the credential store must do: run against the one in memory and against the
 * DynamoDB adapter, so that the double and the real thing agree (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { CredentialStore, SealedToken } from '../../src/ports/stores/credential-store.ts';
import { freshName } from './store-suite.ts';

function sealedAt(issuedAtMs: number, changes: Partial<SealedToken> = {}): SealedToken {
  return {
    clusterUid: clusterUid('u-1'),
    ciphertext: Buffer.from(`sealed-${issuedAtMs}`).toString('base64'),
    issuedAtMs,
    expiresAtMs: issuedAtMs + 14_400_000,
    ...changes,
  };
}

/** Tests of a credential store; call inside a describe block. */
export function testCredentialStore(store: () => CredentialStore): void {
  it('keeps the newer of two sealed tokens, whatever order they come in', async () => {
    const id = clusterId(freshName('credential'));
    assert.equal(await store().readToken(id, 'act'), undefined);
    assert.equal(await store().writeToken(id, 'act', sealedAt(2000)), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(1000)), 'older');
    const again = sealedAt(2000, { ciphertext: 'b3RoZXI=' });
    assert.equal(
      await store().writeToken(id, 'act', again),
      'older',
      'a redelivery changes nothing',
    );
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(3000)), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(3000));
  });

  it('begins anew with the token of another cluster UID, however old (row 90)', async () => {
    const id = clusterId(freshName('credential'));
    await store().writeToken(id, 'act', sealedAt(2000));
    const rebuilt = sealedAt(1000, { clusterUid: clusterUid('u-2') });
    assert.equal(await store().writeToken(id, 'act', rebuilt), 'written');
    assert.deepEqual(await store().readToken(id, 'act'), rebuilt);
  });

  it('keeps the token of each purpose apart, and forgets both', async () => {
    const id = clusterId(freshName('credential'));
    await store().writeToken(id, 'act', sealedAt(3000));
    assert.equal(await store().readToken(id, 'ask'), undefined);
    assert.equal(await store().writeToken(id, 'ask', sealedAt(2000)), 'written');
    assert.deepEqual(await store().readToken(id, 'ask'), sealedAt(2000));
    assert.deepEqual(await store().readToken(id, 'act'), sealedAt(3000));
    await store().removeTokens(id);
    assert.equal(await store().readToken(id, 'ask'), undefined);
    assert.equal(await store().readToken(id, 'act'), undefined);
  });

  it('forgets a token, and keeps the others', async () => {
    const [id, other] = [clusterId(freshName('credential')), clusterId(freshName('credential'))];
    await store().writeToken(id, 'act', sealedAt(2000));
    await store().writeToken(other, 'act', sealedAt(2000));
    await store().removeTokens(id);
    await store().removeTokens(id);
    assert.equal(await store().readToken(id, 'act'), undefined);
    assert.deepEqual(await store().readToken(other, 'act'), sealedAt(2000));
    assert.equal(await store().writeToken(id, 'act', sealedAt(1000)), 'written');
  });
}
