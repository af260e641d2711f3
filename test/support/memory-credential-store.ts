/**
 * Sealed tokens in memory, with the conditional write of the port.
 *
 * One suite (credential-store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import type { CredentialStore, SealedToken } from '../../src/ports/credential-store.ts';

/** A credential store in memory. */
export class MemoryCredentialStore implements CredentialStore {
  /** Ids that were read, in order. */
  readonly reads: ClusterId[] = [];
  readonly tokens = new Map<ClusterId, SealedToken>();
  /** When set, every read rejects with it. */
  failure: Error | undefined;

  readToken(id: ClusterId): Promise<SealedToken | undefined> {
    this.reads.push(id);
    return this.failure === undefined
      ? Promise.resolve(this.tokens.get(id))
      : Promise.reject(this.failure);
  }

  writeToken(id: ClusterId, token: SealedToken): Promise<'written' | 'older'> {
    const stored = this.tokens.get(id);
    const isNewer =
      stored === undefined ||
      stored.issuedAtMs < token.issuedAtMs ||
      stored.clusterUid !== token.clusterUid;
    if (!isNewer) return Promise.resolve('older');
    this.tokens.set(id, token);
    return Promise.resolve('written');
  }

  removeToken(id: ClusterId): Promise<void> {
    this.tokens.delete(id);
    return Promise.resolve();
  }
}
