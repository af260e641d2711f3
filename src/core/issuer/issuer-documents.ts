/**
 * The two public documents of a cluster's token issuer: who it is (OpenID discovery), and the keys that its tokens are signed with.
 *
 * AWS reads them to check a token of a service account. They may stand anywhere that AWS reaches, so the API server can stay private.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** Where discovery stands below an issuer's address, and at the API server. */
export const DISCOVERY_PATH = '/.well-known/openid-configuration';
/** Where the API server shows its keys, and where they stand below an issuer's address once published. */
export const CLUSTER_KEYS_PATH = '/openid/v1/jwks';
/** Of a set of keys: the API server answers 406 to anything less, others know no type but JSON. */
export const KEYS_MEDIA_TYPES = 'application/jwk-set+json, application/json';

const KEYS_MAX = 64;
const KEY_ID_LENGTH_MAX = 256;
/** RFC 7518, 6.2.2, 6.3.2 and 6.4: what only the holder of the key may know. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const PUBLIC_MEMBERS = ['kty', 'kid', 'use', 'alg', 'n', 'e', 'crv', 'x', 'y'];

/** One public key, with the id that tokens name it by. */
export interface SigningKey {
  readonly id: string;
  readonly jwk: JsonObject;
}

export type ReadKeys =
  | { readonly kind: 'keys'; readonly keys: readonly SigningKey[] }
  | { readonly kind: 'refused'; readonly field: string; readonly why: string };

/** Reads a JSON Web Key Set. Members that a public key does not have are left out; a private one refuses the whole. */
export function readKeys(document: Json): ReadKeys {
  const listed = jsonMember(document, 'keys');
  if (!Array.isArray(listed) || listed.length === 0) return refused('keys', 'it lists no key');
  if (listed.length > KEYS_MAX) return refused('keys', `it lists more than ${KEYS_MAX} keys`);
  const keys: SigningKey[] = [];
  for (const [index, jwk] of jsonItems(listed).entries()) {
    const field = `keys[${index}]`;
    if (!isJsonObject(jwk)) return refused(field, 'it is no object');
    const secret = PRIVATE_MEMBERS.find((member) => jsonMember(jwk, member) !== undefined);
    if (secret !== undefined) return refused(`${field}.${secret}`, 'it is part of a private key');
    const id = jsonMember(jwk, 'kid');
    if (typeof id !== 'string' || id === '' || id.length > KEY_ID_LENGTH_MAX) {
      return refused(`${field}.kid`, 'tokens name their key by it');
    }
    keys.push({ id, jwk: publicPart(jwk) });
  }
  return { kind: 'keys', keys };
}

function publicPart(jwk: JsonObject): JsonObject {
  return Object.fromEntries(
    PUBLIC_MEMBERS.flatMap((member) => {
      const value = jsonMember(jwk, member);
      return value === undefined ? [] : [[member, value]];
    }),
  );
}

function refused(field: string, why: string): ReadKeys {
  return { kind: 'refused', field, why };
}

/** One file to publish: its path below the issuer's address, and its content. */
export interface IssuerDocument {
  readonly path: string;
  readonly content: JsonObject;
}

/** Both documents of an issuer at an address without a trailing slash. */
export function issuerDocuments(
  issuer: string,
  keys: readonly SigningKey[],
): readonly [discovery: IssuerDocument, keys: IssuerDocument] {
  const algorithms = new Set(keys.map(({ jwk }) => jsonMember(jwk, 'alg')));
  return [
    {
      path: DISCOVERY_PATH,
      content: {
        issuer,
        jwks_uri: `${issuer}${CLUSTER_KEYS_PATH}`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [...algorithms].filter(
          (algorithm) => typeof algorithm === 'string',
        ),
      },
    },
    { path: CLUSTER_KEYS_PATH, content: { keys: keys.map(({ jwk }) => jwk) } },
  ];
}

/** A name of the DNS below a top-level domain, without a port, a query or an encoded character. */
const PUBLIC_ADDRESS = /^https:\/\/(?:[a-z0-9-]+\.)+([a-z][a-z0-9-]*)(?:\/[\w.~/-]*)?$/i;
const CLUSTER_DOMAINS = ['svc', 'local', 'internal', 'localhost'];

/** True for an address from which AWS reads documents: https, no port, a name of the public DNS. */
export function isPublicIssuer(issuer: string): boolean {
  const domain = PUBLIC_ADDRESS.exec(issuer)?.[1];
  return domain !== undefined && !CLUSTER_DOMAINS.includes(domain.toLowerCase());
}

/** Ids of the cluster's keys that are not published: AWS refuses tokens that they signed. A key is told by its content too. */
export function findUnpublished(
  ofCluster: readonly SigningKey[],
  published: readonly SigningKey[],
): readonly string[] {
  const standing = new Set(published.map(textOf));
  return ofCluster.filter((key) => !standing.has(textOf(key))).map(({ id }) => id);
}

function textOf({ id, jwk }: SigningKey): string {
  return JSON.stringify([
    id,
    ...['kty', 'n', 'e', 'crv', 'x', 'y'].map((name) => jsonMember(jwk, name)),
  ]);
}
