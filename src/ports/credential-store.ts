/**
 * Bound tokens of clusters, sealed: what a cluster's CronJob sent last, and what functions open.
 *
 * A token is sealed inside its cluster by the key of the service, for that cluster alone: cluster and
 * cluster UID are the encryption context, so that a sealed token moved to another cluster's item cannot
 * be opened (S6, S11). Only who may use the key sees a token; the store, the queue and a dead letter hold
 * what is of no use without it. A newer token replaces an older one, never the other way round.
 */
import type { ClusterId, ClusterUid } from '../core/model/identifiers.ts';

/** For whom a token is sealed: the encryption context. */
export interface SealContext {
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
}

/** A sealed token, as kept. */
export interface SealedToken {
  readonly clusterUid: ClusterUid;
  /** KMS ciphertext, base64. */
  readonly ciphertext: string;
  /** By the token's own claims, in milliseconds since 1970. */
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** Store of sealed tokens, one for each cluster. */
export interface CredentialStore {
  /** Strongly consistent; undefined when none was sent yet. */
  readToken(id: ClusterId): Promise<SealedToken | undefined>;
  /** Keeps a token if none is kept, or an older one, or one of another cluster UID. */
  writeToken(id: ClusterId, token: SealedToken): Promise<'written' | 'older'>;
  /** Forgets the token of a cluster, e.g. when it is removed. */
  removeToken(id: ClusterId): Promise<void>;
}

/** What came of opening. */
export type OpenedSeal =
  | { readonly kind: 'opened'; readonly text: string }
  /** Sealed for another context, by another key, or altered; `message` holds no secret. */
  | { readonly kind: 'refused'; readonly message: string };

/** Opens and makes seals. Rejects when the key service does not answer. */
export interface Seal {
  seal(text: string, context: SealContext): Promise<string>;
  open(ciphertext: string, context: SealContext): Promise<OpenedSeal>;
}
