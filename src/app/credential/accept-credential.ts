/**
 * `credential`: takes the sealed token that a cluster's renewer sent, and keeps it for that cluster (S6, S11).
 *
 * Who may speak for a cluster is in its registration, and who spoke is what SQS says; both are compared before the seal
 * is opened. What the message cannot be blamed for (a key that may not be used, a table that does not answer) rejects,
 * and it comes again.
 */
import type { CredentialMessage } from '../../core/model/watcher-message.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import {
  type TokenClaims,
  type TokenPurpose,
  subjectOf,
  type CredentialStore,
  type Seal,
} from '../../ports/stores/credential-store.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { keepRefusal } from '../refusal/keep-refusal.ts';

export type CredentialResult =
  | { readonly kind: 'stored' }
  /** One as new as this, or newer, is kept already. */
  | { readonly kind: 'older' }
  | { readonly kind: 'refused'; readonly code: CredentialRefusalCode };

/** The key of the service may not be used: no fault of the message. */
class SealNotUsableError extends Error {
  override readonly name = 'SealNotUsableError';
}

/** Accepts one message. Rejects when a dependency is lost: it comes again then. */
export async function acceptCredential(
  message: CredentialMessage,
  context: CredentialContext,
  dependencies: CredentialDependencies,
): Promise<CredentialResult> {
  const { registry, credentials, clock, log, metrics } = dependencies;
  const { cluster } = message;
  const refuse = async (code: CredentialRefusalCode): Promise<CredentialResult> => {
    await refuseCredential({ code, message }, context, dependencies);
    return { kind: 'refused', code };
  };
  const sender = refusalOf(message, context, await registry.readCluster(cluster));
  if (sender !== undefined) return refuse(sender);
  // It waited for too long: a newer one is on its way.
  if (message.expiresAtMs <= clock.nowMs()) return refuse('token-expired');
  const opened = await openSeal(message, dependencies);
  if (opened.kind === 'refused') return refuse(opened.code);
  const { claims } = opened;
  const { purpose } = message;
  const fault = checkToken(claims, purpose, clock.nowMs());
  if (claims === undefined || fault !== undefined) return refuse(fault ?? 'token-malformed');
  const { clusterUid, ciphertext } = message;
  const { issuedAtMs, expiresAtMs } = claims;
  const token = { clusterUid, ciphertext, issuedAtMs, expiresAtMs };
  const written = await credentials.writeToken(cluster, purpose, token);
  const kind = written === 'written' ? 'stored' : 'older';
  metrics.count('CredentialMessages', { outcome: kind });
  log.info('credential received', { cluster, purpose, outcome: kind, expiresAtMs });
  return { kind };
}

function refusalOf(
  { clusterUid }: CredentialMessage,
  { senderRoleId }: CredentialContext,
  registration: ClusterRegistration | undefined,
): CredentialRefusalCode | undefined {
  if (registration === undefined) return 'unknown-cluster';
  const { authentication } = registration;
  if (authentication.kind !== 'bound-token') return 'not-bound-token';
  if (senderRoleId === undefined) return 'wrong-sender';
  if (senderRoleId !== authentication.renewerRoleId) return 'wrong-sender';
  return clusterUid === registration.clusterUid ? undefined : 'wrong-cluster-uid';
}

type OpenedToken =
  | { readonly kind: 'opened'; readonly claims: TokenClaims | undefined }
  | { readonly kind: 'refused'; readonly code: 'invalid-ciphertext' | 'wrong-key' };

async function openSeal(
  { cluster, clusterUid, purpose, ciphertext }: CredentialMessage,
  { seal, readClaims }: CredentialDependencies,
): Promise<OpenedToken> {
  const opened = await seal.open(ciphertext, { cluster, clusterUid, purpose });
  // The token goes no further than this.
  if (opened.kind === 'opened') return { kind: 'opened', claims: readClaims(opened.text) };
  const { code, message } = opened;
  if (code === 'invalid-ciphertext' || code === 'wrong-key') return { kind: 'refused', code };
  throw new SealNotUsableError(message);
}

/** A day is what the renewer asks for at most; a server may give a little more than asked. */
const TOKEN_LIFETIME_MS_MAX = 25 * 60 * 60 * 1000;
/** How far the clock of an API server may be ahead of ours. */
const CLOCK_SKEW_MS_MAX = 5 * 60 * 1000;

/**
 * Why an opened token is not kept; undefined: it is the functions' own, of now, and for no longer than meant. So
 * a stolen renewer's one that claims the future can neither stay for ever nor keep newer ones out: the newer wins.
 */
function checkToken(
  claims: TokenClaims | undefined,
  purpose: TokenPurpose,
  nowMs: number,
): CredentialRefusalCode | undefined {
  if (claims === undefined) return 'token-malformed';
  const { subject, issuedAtMs, expiresAtMs } = claims;
  if (subject !== subjectOf(purpose)) return 'token-subject';
  const isOfNow = issuedAtMs <= nowMs + CLOCK_SKEW_MS_MAX;
  const isShort = expiresAtMs > issuedAtMs && expiresAtMs - issuedAtMs <= TOKEN_LIFETIME_MS_MAX;
  if (!isOfNow || !isShort) return 'token-times';
  return expiresAtMs > nowMs ? undefined : 'token-expired';
}

interface CredentialDependencies extends Omit<ProcessPorts, 'random'> {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'noteRefusal'>;
  readonly credentials: Pick<CredentialStore, 'writeToken'>;
  readonly seal: Pick<Seal, 'open'>;
  /** What a token says of itself; undefined when it is none. */
  readonly readClaims: (token: string) => TokenClaims | undefined;
}

interface CredentialContext {
  readonly messageId: string;
  readonly sentAtMs: number;
  /** Unique id of the sender's role; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
}

type CredentialRefusalCode =
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

/**
 * Logs, counts and notes a refusal, without anything of the body: a renewer may have sent a token unsealed (S11). It
 * never comes again. Rejects when that of a verified sender cannot be noted.
 */
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
