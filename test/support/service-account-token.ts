/** Tokens in the form of an API server's, for tests: the signature is none. */
import { subjectOf } from '../../src/ports/stores/credential-store.ts';

/** What a token says. */
export interface TokenContent {
  readonly sub?: unknown;
  readonly iat?: unknown;
  readonly exp?: unknown;
}

/** A token; times in seconds. `signature` marks it, e.g. with a canary. */
export function serviceAccountToken(content: TokenContent, signature = 'c2lnbmF0dXJl'): string {
  const encode = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    aud: ['https://kubernetes.default.svc.cluster.local'],
    iss: 'https://kubernetes.default.svc.cluster.local',
    sub: subjectOf('act'),
    'kubernetes.io': { namespace: 'rollcall-system' },
    ...content,
  };
  return `${encode({ alg: 'RS256', kid: 'k' })}.${encode(claims)}.${signature}`;
}
