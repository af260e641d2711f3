/**
 * The claims of a service account's token that we look at: who it is for, and when it is good.
 *
 * Nothing is verified here: only the API server can, and will. It is read to tell a token from something else,
 * and to know its times. Never throws, never quotes the token (S11).
 */
import * as v from 'valibot';
import type { TokenClaims } from '../../../ports/stores/credential-store.ts';

/** Longer than any that KMS seals. */
const TOKEN_CHARACTERS_MAX = 8192;
/** The compact form of a signed token: three parts in base64url. */
const TOKEN_PATTERN = /^[\w-]{2,}\.([\w-]{2,})\.[\w-]{2,}$/;
/** Seconds since 1970 that a Date can tell. */
const SECONDS_MAX = 8_640_000_000_000;

const secondsSchema = v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(SECONDS_MAX));

/** Open: a token has more claims than we read. */
const claimsSchema = v.object({
  sub: v.pipe(v.string(), v.maxLength(512)),
  iat: secondsSchema,
  exp: secondsSchema,
});

/** The claims of a token; undefined when it is none, or lacks one of them. */
export function readTokenClaims(token: string): TokenClaims | undefined {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  const payload = TOKEN_PATTERN.exec(token)?.[1];
  if (payload === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  } catch {
    // The parser's message would quote the token.
    return undefined;
  }
  const parsed = v.safeParse(claimsSchema, value, { abortEarly: true });
  if (!parsed.success) return undefined;
  const { sub, iat, exp } = parsed.output;
  return { subject: sub, issuedAtMs: Math.floor(iat * 1000), expiresAtMs: Math.floor(exp * 1000) };
}
