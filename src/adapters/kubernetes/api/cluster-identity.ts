/**
 * Whose kube-system namespace answers: asked before an access is handed out (protocol 24, S6).
 *
 * One question, and one more with a new token where the first is not accepted. What the answer means is the connector's.
 */
import type { ConnectRefusal, LiveRead } from '../../../ports/cluster/cluster-access.ts';
import { OBJECT_READ_TIMEOUT_MS } from './cluster-access.ts';
import type { Transport, TransportAnswer } from '../transport/transport.ts';
import type { TokenSource } from '../credentials/token-source.ts';

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
  const { message, retryAfterMs } = read;
  return { kind: 'unavailable', message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
