// Whether a request was signed with the secret of its access key, by AWS's Signature Version 4 as the SDKs sign to JSON
// services.
//
// The signature covers method, path, query, the headers that it names, and the body as it came; a caller without the
// secret can make none. The age of a request is not looked at: only root reads what passes on loopback, so no other user
// has one to repeat.
import { createHmac, createSecretKey, hash, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A request, as far as it is signed. */
export interface SignedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/(\d{8}\/[^/,\s]+\/[^/,\s]+\/aws4_request), *SignedHeaders=([a-z0-9;-]+), *Signature=([0-9a-f]{64})$/;

/** The access key that a request names, and how it proves that its secret is known; undefined where it does neither. */
export interface Claim {
  readonly accessKey: string;
  /** Date, region, service: a key is derived for each. */
  readonly scope: string;
  readonly signedHeaders: string;
  readonly signature: string;
}

/** Reads the Authorization header. */
export function readClaim(authorization: string | undefined): Claim | undefined {
  const [, accessKey, scope, signedHeaders, signature] =
    AUTHORIZATION.exec(authorization ?? '') ?? [];
  if (accessKey === undefined || scope === undefined) return undefined;
  if (signedHeaders === undefined || signature === undefined) return undefined;
  return { accessKey, scope, signedHeaders, signature };
}

/** The key that a secret gives within a scope: a KeyObject, or Node would take 16 µs longer for each request. */
export function signingKey(secretAccessKey: string, scope: string): KeyObject {
  const bytes = scope
    .split('/')
    .reduce<Buffer>(
      (key, part) => createHmac('sha256', key).update(part).digest(),
      Buffer.from(`AWS4${secretAccessKey}`),
    );
  return createSecretKey(bytes);
}

/** Whether a key made the signature of a claim. */
export function isSignedWith(key: KeyObject, request: SignedRequest, claim: Claim): boolean {
  const { headers } = request;
  const date = headers['x-amz-date'];
  const text = [ALGORITHM, textOf(date), claim.scope, sha256(canonical(request, claim))].join('\n');
  const expected = createHmac('sha256', key).update(text).digest();
  return timingSafeEqual(expected, Buffer.from(claim.signature, 'hex'));
}

function canonical(
  { method = '', url = '', headers, body }: SignedRequest,
  { signedHeaders }: Claim,
): string {
  const [path = '', query = ''] = url.split('?', 2);
  const lines = signedHeaders
    .split(';')
    .map((name) => `${name}:${textOf(headers[name]).trim().replaceAll(/ +/g, ' ')}\n`);
  return [method, path, query, lines.join(''), signedHeaders, sha256(body)].join('\n');
}

function textOf(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.join(',') ?? '');
}

function sha256(content: string | Buffer): string {
  return hash('sha256', content);
}
