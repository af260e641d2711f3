/**
 * What every implementation of the credential store must do: run against the one in memory and against the
 * DynamoDB adapter, so that the double and the real thing agree (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { CredentialStore, SealedToken } from '../../src/ports/credential-store.ts';
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
    assert.equal(await store().readToken(id), undefined);
    assert.equal(await store().writeToken(id, sealedAt(2000)), 'written');
    assert.deepEqual(await store().readToken(id), sealedAt(2000));
    assert.equal(await store().writeToken(id, sealedAt(1000)), 'older');
    const again = sealedAt(2000, { ciphertext: 'b3RoZXI=' });
    assert.equal(await store().writeToken(id, again), 'older', 'a redelivery changes nothing');
    assert.deepEqual(await store().readToken(id), sealedAt(2000));
    assert.equal(await store().writeToken(id, sealedAt(3000)), 'written');
    assert.deepEqual(await store().readToken(id), sealedAt(3000));
  });

  it('begins anew with the token of another cluster UID, however old (row 90)', async () => {
    const id = clusterId(freshName('credential'));
    await store().writeToken(id, sealedAt(2000));
    const rebuilt = sealedAt(1000, { clusterUid: clusterUid('u-2') });
    assert.equal(await store().writeToken(id, rebuilt), 'written');
    assert.deepEqual(await store().readToken(id), rebuilt);
  });

  it('forgets a token, and keeps the others', async () => {
    const [id, other] = [clusterId(freshName('credential')), clusterId(freshName('credential'))];
    await store().writeToken(id, sealedAt(2000));
    await store().writeToken(other, sealedAt(2000));
    await store().removeToken(id);
    await store().removeToken(id);
    assert.equal(await store().readToken(id), undefined);
    assert.deepEqual(await store().readToken(other), sealedAt(2000));
    assert.equal(await store().writeToken(id, sealedAt(1000)), 'written');
  });
}
