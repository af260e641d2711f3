/**
 * The credential that a registration names, and why there is none that could be sent (S11).
 *
 * Assumes that sources of tokens exist where the authentication needs one; it opens none and keeps none.
 */
import type { ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { staticBearer } from '../credentials/credential.ts';
import type { Credential } from '../credentials/credential.ts';
import type { SealedTokenSource } from '../credentials/sealed-token-source.ts';
import type { TokenSource } from '../credentials/token-source.ts';

/** Why there is no bound token that could be sent; undefined where there is one, or none is needed. */
export async function tokenRefusal(
  sealed: SealedTokenSource | undefined,
): Promise<ConnectRefusal | undefined> {
  const state = await sealed?.prepare();
  switch (state?.kind) {
    case 'faulty':
      return { kind: 'no-token', fault: state.fault };
    case 'unavailable':
      // Not the cluster's fault: asking to wait keeps its circuit breaker out of this.
      return { ...state, token: 'unread' };
    case 'usable':
    case undefined:
      return undefined;
  }
}

/** What requests are signed with; undefined where the registration has none, or there is no source of its tokens. */
export function credentialOf(
  registration: ClusterRegistration,
  tokens: TokenSource | undefined,
): Credential | undefined {
  const { authentication } = registration;
  switch (authentication.kind) {
    case 'none':
      return undefined;
    case 'bearer':
      return authentication.token === '' ? undefined : staticBearer(authentication.token);
    case 'client-certificate':
      return authentication;
    case 'eks':
    case 'bound-token':
      return tokens === undefined ? undefined : { kind: 'bearer', token: () => tokens.token() };
  }
}
