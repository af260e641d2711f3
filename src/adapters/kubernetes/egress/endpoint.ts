/**
 * The address of an API server, checked in its form before anything is sent there (S12); where it leads: egress.ts.
 *
 * https only, no user information, query or fragment; a path prefix is kept. The host must stand in the text as it is
 * used: no percent signs, no letters that only look like others, no other spelling of an IPv4 address.
 */

/** A checked address. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** '' or '/…' without a trailing slash. */
  readonly pathPrefix: string;
}

export type EndpointFault = 'no-url' | 'not-https' | 'user-info' | 'query' | 'host' | 'port';

export type ParsedEndpoint =
  | { readonly kind: 'endpoint'; readonly endpoint: Endpoint }
  | { readonly kind: 'refused'; readonly fault: EndpointFault; readonly message: string };

const HTTPS_PORT = 443;
const LENGTH_MAX = 2048;
/** Printable ASCII; the URL parser would silently drop line breaks and turn backslashes round. */
const TEXT_PATTERN = /^[\x21-\x5b\x5d-\x7e]+$/;

const MESSAGES: Readonly<Record<EndpointFault, string>> = {
  'no-url': 'the server address is not a URL',
  'not-https': 'the server address is not https',
  'user-info': 'the server address holds a user name',
  query: 'the server address holds a query',
  host: 'the host of the server address is not written out plainly',
  port: 'the server address has the port 0',
};

function faultOf(url: URL, server: string): EndpointFault | undefined {
  if (url.protocol !== 'https:') return 'not-https';
  if (url.username !== '' || url.password !== '' || server.includes('@')) return 'user-info';
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(server)) return 'query';
  const written = server.toLowerCase();
  const isIpv6 = written.startsWith('https://[');
  if (!isIpv6 && !written.startsWith(`https://${url.hostname}`)) return 'host';
  return url.port === '0' ? 'port' : undefined;
}

function refused(fault: EndpointFault): ParsedEndpoint {
  return { kind: 'refused', fault, message: MESSAGES[fault] };
}

/** Checks a server address as a registration or a kubeconfig gives it. The address is not echoed. */
export function parseEndpoint(server: string): ParsedEndpoint {
  const isText = server.length <= LENGTH_MAX && TEXT_PATTERN.test(server);
  const url = isText ? URL.parse(server) : null;
  if (url === null) return refused('no-url');
  const fault = faultOf(url, server);
  if (fault !== undefined) return refused(fault);
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
