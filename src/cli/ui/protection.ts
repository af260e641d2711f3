/**
 * Protects the page's server, which answers this machine's own browser and scripts that have the token (docs/page.md).
 *
 * A name of another site that leads here (DNS rebinding) fails by Host; a request of another site's page by Origin, by
 * `sec-fetch-site` and by the token, which no other site knows.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

export interface RequestRefusal {
  readonly status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 421 | 429;
  readonly message: string;
  readonly remedy: string;
}

export interface RequestHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
};

/** For every path: the request names this server. */
export function refuseForeignHost(
  { headers }: RequestHead,
  port: number,
): RequestRefusal | undefined {
  if (namesOf(port).includes(String(headers['host'] ?? '').toLowerCase())) return undefined;
  return {
    status: 421,
    message: 'This server answers under its own address alone.',
    remedy: `Open http://127.0.0.1:${String(port)}/ with the token that was printed.`,
  };
}

/** For the API: it comes from the page or from a script, and has the token. */
export function refuseStranger(
  { method, headers }: RequestHead,
  { port, token }: { readonly port: number; readonly token: string },
): RequestRefusal | undefined {
  const { origin, authorization } = headers;
  const isOwnOrigin =
    origin === undefined || namesOf(port).some((name) => origin === `http://${name}`);
  const site = headers['sec-fetch-site'] ?? 'same-origin';
  if (!isOwnOrigin || site !== 'same-origin') {
    return {
      status: 403,
      message: 'A page of another site asks, and is not answered.',
      remedy: 'Open the address that was printed.',
    };
  }
  if (!isSame(String(authorization ?? ''), `Bearer ${token}`)) {
    return {
      status: 401,
      message: 'The token is missing, or is not the one of this server.',
      remedy: 'Open the address that was printed, or send its token: authorization: Bearer TOKEN.',
    };
  }
  const type = String(headers['content-type'] ?? '');
  if (method !== 'POST' || /^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type))
    return undefined;
  return {
    status: 415,
    message: 'The body is not sent as JSON.',
    remedy: 'Send it with content-type: application/json.',
  };
}

function namesOf(port: number): readonly string[] {
  return [`127.0.0.1:${String(port)}`, `localhost:${String(port)}`];
}

/** In a time that tells nothing of where they differ. */
function isSame(left: string, right: string): boolean {
  const [one, other] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
