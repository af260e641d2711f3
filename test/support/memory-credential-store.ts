/**
 * Sealed tokens in memory, with the conditional write of the port.
 *
 * One suite (credential-store-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import type {
  CredentialStore,
  SealedToken,
  TokenPurpose,
} from '../../src/ports/stores/credential-store.ts';

/** A credential store in memory. */
export class MemoryCredentialStore implements CredentialStore {
  /** Ids that were read, in order. */
  readonly reads: ClusterId[] = [];
  /** Of tokens that act. */
  readonly tokens = new Map<ClusterId, SealedToken>();
  /** Of tokens that ask. */
  readonly requestTokens = new Map<ClusterId, SealedToken>();
  /** When set, every read rejects with it. */
  failure: Error | undefined;

  readToken(id: ClusterId, purpose: TokenPurpose): Promise<SealedToken | undefined> {
    this.reads.push(id);
    return this.failure === undefined
      ? Promise.resolve(this.#of(purpose).get(id))
      : Promise.reject(this.failure);
  }

  writeToken(
    id: ClusterId,
    purpose: TokenPurpose,
    token: SealedToken,
  ): Promise<'written' | 'older'> {
    const stored = this.#of(purpose).get(id);
    const isNewer =
      stored === undefined ||
      stored.issuedAtMs < token.issuedAtMs ||
      stored.clusterUid !== token.clusterUid;
    if (!isNewer) return Promise.resolve('older');
    this.#of(purpose).set(id, token);
    return Promise.resolve('written');
  }

  removeTokens(id: ClusterId): Promise<void> {
    this.requestTokens.delete(id);
    this.tokens.delete(id);
    return Promise.resolve();
  }

  #of(purpose: TokenPurpose): Map<ClusterId, SealedToken> {
    return purpose === 'act' ? this.tokens : this.requestTokens;
  }
}
