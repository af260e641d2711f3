/**
 * One renewal: new tokens of the functions, one to act and one to ask (ADR 0023), each sealed for this very cluster and
 * sent.
 *
 * The token's times and the cluster's UID are read live. A token exists in this process alone, between two requests
 * (S11). Nothing is kept and nothing repeated here: the CronJob comes again.
 */
import { CREDENTIAL_SCHEMA } from '../../core/model/watcher-message.ts';
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import { FUNCTIONS_ACCOUNTS, subjectOf } from '../../ports/stores/credential-store.ts';
import type { Seal, TokenClaims, TokenPurpose } from '../../ports/stores/credential-store.ts';
import type { CredentialQueue, TokenMint } from '../../ports/cluster/token-mint.ts';

export interface RenewalDependencies {
  readonly cluster: ClusterId;
  readonly mint: TokenMint;
  /** The claims of a token; undefined when its form is unknown. */
  readonly readClaims: (token: string) => TokenClaims | undefined;
  readonly seal: Pick<Seal, 'seal'>;
  readonly queue: CredentialQueue;
}

type RenewalStep = 'identity' | 'mint' | 'token' | 'seal' | 'send';

/** The outcome of a renewal; `message` holds no secret. */
export type RenewalResult =
  | {
      readonly kind: 'sent';
      readonly clusterUid: ClusterUid;
      readonly issuedAtMs: number;
      readonly expiresAtMs: number;
    }
  | { readonly kind: 'failed'; readonly step: RenewalStep; readonly message: string };

function failed(step: RenewalStep, message: string): RenewalResult {
  return { kind: 'failed', step, message };
}

/**
 * Renews both tokens, once. The one that keeps pods goes first, whatever becomes of the other. Rejects only when the key service does not answer.
 */
export async function renewCredentials(dependencies: RenewalDependencies): Promise<RenewalResult> {
  const { mint } = dependencies;
  const identity = await mint.readClusterUid();
  if (identity.kind === 'missing') return failed('identity', 'there is no namespace kube-system');
  if (identity.kind === 'unavailable') return failed('identity', identity.message);
  const clusterUid = identity.object;
  const acting = await renew({ clusterUid, purpose: 'act' }, dependencies);
  if (acting.kind === 'failed') return acting;
  const asking = await renew({ clusterUid, purpose: 'ask' }, dependencies);
  return asking.kind === 'failed'
    ? failed(asking.step, `of ${FUNCTIONS_ACCOUNTS.ask}: ${asking.message}`)
    : acting;
}

async function renew(
  { clusterUid, purpose }: { readonly clusterUid: ClusterUid; readonly purpose: TokenPurpose },
  { cluster, mint, readClaims, seal, queue }: RenewalDependencies,
): Promise<RenewalResult> {
  const minted = await mint.mint(purpose);
  if (minted.kind === 'refused') return failed('mint', minted.message);
  const claims = readClaims(minted.token);
  if (claims === undefined) return failed('token', 'the API server made a token of another form');
  const { subject, issuedAtMs, expiresAtMs } = claims;
  if (subject !== subjectOf(purpose))
    return failed('token', 'the token is of another service account');
  const sealed = await seal.seal(minted.token, { cluster, clusterUid, purpose });
  if (sealed.kind === 'refused') return failed('seal', sealed.message);
  const times = { issuedAtMs, expiresAtMs };
  const outcome = await queue.send({
    schema: CREDENTIAL_SCHEMA,
    cluster,
    clusterUid,
    purpose,
    ciphertext: sealed.ciphertext,
    ...times,
  });
  if (outcome.kind !== 'accepted') return failed('send', `${outcome.kind}: ${outcome.message}`);
  return { kind: 'sent', clusterUid, ...times };
}
