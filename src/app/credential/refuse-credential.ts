/**
 * Refusing a renewer's message: one log line, one metric, one note, and it never comes again.
 *
 * Neither holds anything of the body: somebody may have sent a token unsealed (S11). What an
 * unverified sender wrote is noted apart from what the cluster that it named sends (S6).
 */
import type { CredentialMessage } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { CredentialStore, Seal, TokenClaims } from '../../ports/stores/credential-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { keepRefusal } from '../refusal/keep-refusal.ts';

export interface CredentialDependencies extends Omit<ProcessPorts, 'random'> {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'noteRefusal'>;
  readonly credentials: Pick<CredentialStore, 'writeToken'>;
  readonly seal: Pick<Seal, 'open'>;
  /** What a token says of itself; undefined when it is none. */
  readonly readClaims: (token: string) => TokenClaims | undefined;
}

export interface CredentialContext {
  readonly messageId: string;
  readonly sentAtMs: number;
  /** Unique id of the sender's role; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
}

/** Why a message is not accepted. */
export type CredentialRefusalCode =
  /** It is no JSON. */
  | 'undecodable'
  /** It is larger than any message of a token renewer. */
  | 'oversized'
  /** Another release wrote it. Update the token renewer or the functions. */
  | 'unsupported-schema'
  /** A field is missing, unknown or out of bounds; `field` names it. */
  | 'invalid'
  /** No such cluster is registered. */
  | 'unknown-cluster'
  /** The cluster is registered with another kind of credential. */
  | 'not-bound-token'
  /** Another role sent it than the registered `renewerRoleId`; the role of the watcher may not either. */
  | 'wrong-sender'
  /** The token renewer runs in another cluster than the registered one. */
  | 'wrong-cluster-uid'
  /** It was altered, or sealed for another cluster. */
  | 'invalid-ciphertext'
  /** Another key sealed it. Check that `ROLLCALL_CREDENTIALS_KEY_ARN` is that of this stack. */
  | 'wrong-key'
  /** The sealed content is no token. */
  | 'token-malformed'
  /** The token belongs to another service account than the message says. */
  | 'token-subject'
  /** The token has ended: the message waited for too long. */
  | 'token-expired'
  /** The token begins more than five minutes in the future, or lives longer than 25 hours. */
  | 'token-times';

interface CredentialRefusal {
  readonly code: CredentialRefusalCode;
  /** Dotted path of what was refused; absent for the whole. */
  readonly field?: string;
  /** Absent when the body could not be read. */
  readonly message?: CredentialMessage;
}

/** Logs, counts and notes a refusal. Rejects when that of a verified sender cannot be noted. */
export async function refuseCredential(
  refusal: CredentialRefusal,
  context: CredentialContext,
  ports: Pick<CredentialDependencies, 'registry' | 'log' | 'metrics'>,
): Promise<void> {
  const { code, field = '', message } = refusal;
  const { messageId, senderRoleId } = context;
  const { log, metrics } = ports;
  const cluster = message?.cluster ?? '';
  log.warn('credential refused', { code, field, cluster, messageId, senderRoleId });
  metrics.count('CredentialRefusals', { outcome: code });
  await keepRefusal({ ...context, cluster, queue: 'credentials', code, detail: field }, ports);
}
