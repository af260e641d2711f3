/**
 * Bearer tokens of a local cluster: which user stands behind one.
 *
 * Tokens are compared by their SHA-256 digests in constant time, each against all, so that answers tell nothing about how
 * much of a guess was right. Who presents no token is the anonymous user, as on a real API server: authorisation decides.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { User } from '../api/request/api-request.ts';

/** Finds the user behind a token; no token: the anonymous user; undefined: the token is unknown (401). */
export type Authenticate = (token: string | undefined) => User | undefined;

const ANONYMOUS: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Makes the authenticator of these tokens; later changes of the map do not count. */
export function createTokenAuthenticator(tokens: ReadonlyMap<string, User>): Authenticate {
  const entries = [...tokens].map(([token, user]) => ({ digest: digestOf(token), user }));
  return (token) => {
    if (token === undefined) return ANONYMOUS;
    const digest = digestOf(token);
    let found: User | undefined;
    for (const entry of entries) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.user;
    }
    return found;
  };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
