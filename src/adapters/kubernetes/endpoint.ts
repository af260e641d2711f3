/**
 * The address of an API server, checked before anything is sent there (S12).
 *
 * https only, no user information, query or fragment; a path prefix is kept, because some proxies
 * serve many clusters under one host. This is also the place for the later checks on what a host
 * resolves to: a transport takes a `lookup`, and connects to the address that was looked up.
 */

/** A checked address. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** '' or '/…' without a trailing slash. */
  readonly pathPrefix: string;
}

/** Result of checking an address. */
export type ParsedEndpoint =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint }
  | { readonly kind: 'refused'; readonly message: string };

const HTTPS_PORT = 443;

function faultOf(url: URL): string | undefined {
  if (url.protocol !== 'https:') return 'the server address is not https';
  if (url.username !== '' || url.password !== '') return 'the server address holds a user name';
  if (url.search !== '' || url.hash !== '') return 'the server address holds a query';
  return undefined;
}

/** Checks a server address as a registration or a kubeconfig gives it. The address is not echoed. */
export function parseEndpoint(server: string): ParsedEndpoint {
  const url = URL.parse(server);
  if (url === null) return { kind: 'refused', message: 'the server address is not a URL' };
  const fault = faultOf(url);
  if (fault !== undefined) return { kind: 'refused', message: fault };
  return {
    kind: 'endpoint',
    endpoint: {
      // Node's resolver wants an IPv6 address without its brackets.
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? HTTPS_PORT : Number(url.port),
      pathPrefix: url.pathname.replace(/\/+$/, ''),
    },
  };
}
