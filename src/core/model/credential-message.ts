/**
 * What a cluster's renewer sends: a new token for the functions, sealed for this cluster alone.
 *
 * The times are the token's own, repeated outside of the seal: by them an outdated message is refused without
 * a call to the key service. They decide nothing else; what is stored is what the opened token says.
 */
import type { ClusterId, ClusterUid } from './identifiers.ts';

/** Version of the message's schema; another one is refused, never guessed at. */
export const CREDENTIAL_SCHEMA = 1;

/** A message of the credentials queue. */
export interface CredentialMessage {
  readonly schema: typeof CREDENTIAL_SCHEMA;
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly purpose: 'act' | 'ask';
  /** base64. */
  readonly ciphertext: string;
  /** Milliseconds since 1970. */
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}
