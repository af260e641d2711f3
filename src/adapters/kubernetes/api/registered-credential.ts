/**
 * The credential that a registration names, why there is none that could be sent (S11), and whose kube-system namespace
 * answers under it: asked before an access is handed out (protocol 24, S6).
 *
 * Assumes that sources of tokens exist where the authentication needs one; it opens none and keeps none. What an answer
 * means is the connector's.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ConnectRefusal, LiveRead } from '../../../ports/cluster/cluster-access.ts';
import type { Credential, TokenSource } from '../credentials/token-source.ts';
import type { SealedTokenSource } from '../credentials/sealed-token-source.ts';
import type { Transport, TransportAnswer } from '../transport/transport.ts';
import { OBJECT_READ_TIMEOUT_MS } from './cluster-access.ts';
import { staticBearer } from '../credentials/token-source.ts';

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

/** True for a 401: the credential was not accepted, and nothing was done. */
export function isUnauthorized(answer: TransportAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 401;
}

/** Asks once, and once more with a new token if the first one is not accepted. */
export async function askIdentity(
  {
    transport,
    tokens,
  }: { readonly transport: Transport; readonly tokens: TokenSource | undefined },
  path: string,
): Promise<TransportAnswer> {
  const request = { method: 'GET', path, timeoutMs: OBJECT_READ_TIMEOUT_MS } as const;
  const first = await transport.send(request);
  if (!isUnauthorized(first) || tokens?.invalidate() !== true) return first;
  const second = await transport.send(request);
  if (isUnauthorized(second)) tokens.invalidate();
  return second;
}

/** An identity that could not be read. */
export function unavailableAs(read: Exclude<LiveRead<never>, { kind: 'found' }>): ConnectRefusal {
  if (read.kind === 'missing') return { kind: 'unavailable', message: 'no kube-system namespace' };
  const { kind, message, retryAfterMs } = read;
  return { kind, message, ...defined({ retryAfterMs }) };
}
