/**
 * Whether an opened token is one that we keep: the functions' own for its purpose, of now, and not for longer than meant.
 *
 * This protects a cluster from mistakes, and from whoever stole its renewer's credentials: a token of
 * somebody else is never used, and one that claims the future can neither stay for ever nor keep newer ones
 * out, because the newer of two wins. Whether it is genuine, its API server says at the first request.
 */
import { subjectOf } from '../../ports/stores/credential-store.ts';
import type { TokenClaims, TokenPurpose } from '../../ports/stores/credential-store.ts';

/** Why a token is not kept. */
export type TokenRefusal = 'token-malformed' | 'token-subject' | 'token-expired' | 'token-times';

/** A day is what the renewer asks for at most; a server may give a little more than asked. */
const TOKEN_LIFETIME_MS_MAX = 25 * 60 * 60 * 1000;
/** How far the clock of an API server may be ahead of ours. */
const CLOCK_SKEW_MS_MAX = 5 * 60 * 1000;

/** Checks what a token says of itself; undefined: it may be kept. */
export function checkToken(
  claims: TokenClaims | undefined,
  purpose: TokenPurpose,
  nowMs: number,
): TokenRefusal | undefined {
  if (claims === undefined) return 'token-malformed';
  const { subject, issuedAtMs, expiresAtMs } = claims;
  if (subject !== subjectOf(purpose)) return 'token-subject';
  const isOfNow = issuedAtMs <= nowMs + CLOCK_SKEW_MS_MAX;
  const isShort = expiresAtMs > issuedAtMs && expiresAtMs - issuedAtMs <= TOKEN_LIFETIME_MS_MAX;
  if (!isOfNow || !isShort) return 'token-times';
  return expiresAtMs > nowMs ? undefined : 'token-expired';
}
