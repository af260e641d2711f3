/**
 * Bound tokens of clusters, sealed: what a cluster's CronJob sent last, and what functions open. Two of each
 * cluster, for two purposes, in two items and under two contexts: functions' roles let each open its own (ADR
 * 0023).
 *
 * Cluster and cluster UID are the encryption context, so that a token moved to another cluster's item cannot be
 * opened (S6, S11); the store, the queue and a dead letter hold what is of no use without the key. A newer token
 * replaces an older one, never the other way round.
 */
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';

/**
 * The purpose of a token. `act`: keeping DaemonSets, by `reconcile` alone. `ask`: asking the watcher for a snapshot, by the
 * functions that read what watchers send, or that keep their schedule; who takes one of them over can do no more (B.3).
 */
export type TokenPurpose = 'act' | 'ask';

/** Service account in rollcall-system of each purpose. */
export const FUNCTIONS_ACCOUNTS: Readonly<Record<TokenPurpose, string>> = {
  act: 'rollcall-functions',
  ask: 'rollcall-requests',
};

/** The functions' identity in a cluster: the subject of every token of that purpose that is accepted. */
export function subjectOf(purpose: TokenPurpose): string {
  return `system:serviceaccount:rollcall-system:${FUNCTIONS_ACCOUNTS[purpose]}`;
}

/** The claims of a token; unverified, as only its API server can verify it. */
export interface TokenClaims {
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** For whom a token is sealed: the encryption context. */
export interface SealContext {
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  /** In the key service's context only where it is `ask`, as the conditions of roles have it. */
  readonly purpose: TokenPurpose;
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

/** Store of sealed tokens, one for each cluster and purpose. */
export interface CredentialStore {
  /** Strongly consistent; undefined when none was sent yet. */
  readToken(id: ClusterId, purpose: TokenPurpose): Promise<SealedToken | undefined>;
  /** Keeps a token if none is kept, or an older one, or one of another cluster UID. */
  writeToken(
    id: ClusterId,
    purpose: TokenPurpose,
    token: SealedToken,
  ): Promise<'written' | 'older'>;
  removeTokens(id: ClusterId): Promise<void>;
}

/** Why a seal was not made or not opened: the key service answered, and said no. */
export type SealRefusal =
  /** Altered, no ciphertext at all, or sealed for another context: the service does not tell them apart. */
  | 'invalid-ciphertext'
  /** Sealed by another key than ours. */
  | 'wrong-key'
  /** The caller may not use the key. Nothing is known of the ciphertext. */
  | 'access-denied'
  /** The key is disabled, waits for its deletion, or does not exist. Nothing is known of the ciphertext. */
  | 'key-unavailable'
  /** Longer than what the key seals at once (4,096 bytes). */
  | 'too-large';

/** A seal that was refused; `message` holds no secret. */
export interface RefusedSeal {
  readonly kind: 'refused';
  readonly code: SealRefusal;
  readonly message: string;
}

/** The outcome of opening. */
export type OpenedSeal = { readonly kind: 'opened'; readonly text: string } | RefusedSeal;

/** What came of sealing; the ciphertext is base64. */
export type MadeSeal = { readonly kind: 'sealed'; readonly ciphertext: string } | RefusedSeal;

/** Opens and makes seals. Rejects when the key service does not answer; never quotes what is sealed. */
export interface Seal {
  seal(text: string, context: SealContext): Promise<MadeSeal>;
  open(ciphertext: string, context: SealContext): Promise<OpenedSeal>;
}
