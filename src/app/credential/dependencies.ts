/**
 * What `credential` works with, what the queue says of a message, and why one is refused.
 *
 * Ports, narrowed to what is used: nothing here can read a token back, or change a registration.
 */
import type { ProcessPorts } from '../../ports/process.ts';
import type { CredentialStore, Seal, TokenClaims } from '../../ports/stores/credential-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';

/** What accepting needs. */
export interface CredentialDependencies extends Omit<ProcessPorts, 'random'> {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'recordDeadLetter'>;
  readonly credentials: Pick<CredentialStore, 'writeToken'>;
  readonly seal: Pick<Seal, 'open'>;
  /** What a token says of itself; undefined when it is none. */
  readonly readClaims: (token: string) => TokenClaims | undefined;
}

/** What the queue says of a message. */
export interface CredentialContext {
  readonly messageId: string;
  readonly sentAtMs: number;
  /** Unique id of the sender's role; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
}

/** Why a message is not accepted. */
export type CredentialRefusalCode =
  | 'undecodable'
  | 'oversized'
  | 'unsupported-schema'
  | 'invalid'
  | 'unknown-cluster'
  | 'not-bound-token'
  | 'wrong-sender'
  | 'wrong-cluster-uid'
  | 'invalid-ciphertext'
  | 'wrong-key'
  | 'token-malformed'
  | 'token-subject'
  | 'token-expired'
  | 'token-times';
