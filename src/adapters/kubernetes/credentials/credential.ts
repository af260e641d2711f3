/**
 * What a transport authenticates with, resolved: no file names, no plugins, no clouds.
 *
 * Secrets stay inside this adapter: they are never part of a message, an error or a log line (S11).
 */

/** How requests authenticate. A bearer token is asked for per request, because some expire. */
export type Credential =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: () => Promise<string> }
  | {
      readonly kind: 'client-certificate';
      readonly certificatePem: string;
      readonly keyPem: string;
    };

/** A bearer credential that never changes. */
export function staticBearer(token: string): Credential {
  return { kind: 'bearer', token: () => Promise.resolve(token) };
}
