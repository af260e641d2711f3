// Decides who may do what, as IAM does for one account: an explicit Deny wins, then any Allow, else no.
//
// A principal is known by its access key, which is a name, and proves itself by its secret, which is random and made here: a
// process of another user of this machine can reach the servers too. An unknown key, or one whose secret was not
// signed with, is refused before any policy is asked. `ForAllValues` holds for a request without keys, as in AWS: a
// condition bounds keys, it does not demand any. Statements are indexed by action, so a request costs one look-up.
import { randomBytes, type KeyObject } from 'node:crypto';
import type { PolicyStatement } from './policy.ts';
import { isSignedWith, readClaim, signingKey, type SignedRequest } from './signature.ts';

/** One request, as a policy sees it. */
export interface AuthorizationRequest {
  /** `sqs:SendMessage`, for example. */
  readonly action: string;
  readonly resourceArn: string;
  /** Partition keys; asked for only when a statement bounds them. */
  readonly leadingKeys?: () => readonly string[];
}

/** The answer to a request. */
export type Decision =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'unknown-key' }
  /** `message` is AWS's. */
  | { readonly kind: 'denied'; readonly message: string };

/** Who signs with an access key. */
export interface Principal {
  /** As AWS names it in its refusals. */
  readonly arn: string;
  /** `administrator`: everything, as the person who deploys. */
  readonly rights: 'administrator' | readonly PolicyStatement[];
  /** Where it outlives this process; else one is made. */
  readonly secretAccessKey?: string | undefined;
}

/** A key pair. */
export interface LocalCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface IndexedPrincipal {
  readonly arn: string;
  readonly statements: 'administrator' | ReadonlyMap<string, readonly PolicyStatement[]>;
}

const allowed: Decision = { kind: 'allowed' };

const SECRET_BYTES = 30;
/** Signing keys that are kept: one for each principal, service and day. */
const SIGNING_KEYS_MAX = 1000;

/** The secret and the rights of every access key. */
export class Authorizer {
  readonly #principals = new Map<string, IndexedPrincipal>();
  readonly #secrets = new Map<string, string>();
  readonly #signingKeys = new Map<string, KeyObject>();

  /** Gives an access key its rights, instead of those it had; it keeps the secret that it has. */
  grant(accessKeyId: string, { arn, rights, secretAccessKey }: Principal): LocalCredentials {
    const statements = rights === 'administrator' ? rights : indexByAction(rights);
    this.#principals.set(accessKeyId, { arn, statements });
    const secret =
      secretAccessKey ??
      this.#secrets.get(accessKeyId) ??
      randomBytes(SECRET_BYTES).toString('base64url');
    this.#secrets.set(accessKeyId, secret);
    return this.credentialsOf(accessKeyId);
  }

  /** The principal of an access key; undefined: the key is unknown. */
  arnOf(accessKey: string): string | undefined {
    return this.#principals.get(accessKey)?.arn;
  }

  /** An access key with its secret. Throws where it was never granted. */
  credentialsOf(accessKeyId: string): LocalCredentials {
    const secretAccessKey = this.#secrets.get(accessKeyId);
    if (secretAccessKey === undefined)
      throw new Error(`the access key ${accessKeyId} was never granted`);
    return { accessKeyId, secretAccessKey };
  }

  /** The access key of a request's signer; undefined: the signer has no rights here. */
  signerOf(request: SignedRequest): string | undefined {
    const claim = readClaim(request.headers.authorization);
    if (claim === undefined || !this.#principals.has(claim.accessKey)) return undefined;
    const key = this.#signingKeyOf(claim.accessKey, claim.scope);
    return isSignedWith(key, request, claim) ? claim.accessKey : undefined;
  }

  #signingKeyOf(accessKey: string, scope: string): KeyObject {
    const name = `${accessKey}/${scope}`;
    const known = this.#signingKeys.get(name);
    if (known !== undefined) return known;
    const made = signingKey(this.credentialsOf(accessKey).secretAccessKey, scope);
    if (this.#signingKeys.size >= SIGNING_KEYS_MAX) this.#signingKeys.clear();
    this.#signingKeys.set(name, made);
    return made;
  }

  /** Whether the holder of a key may do this; undefined: of none. */
  decide(accessKey: string | undefined, request: AuthorizationRequest): Decision {
    const principal = this.#principals.get(accessKey ?? '');
    if (principal === undefined) return { kind: 'unknown-key' };
    if (principal.statements === 'administrator') return allowed;
    const statements = principal.statements.get(request.action.toLowerCase()) ?? [];
    const matching = statements.filter((statement) => matches(statement, request));
    if (matching.some(({ effect }) => effect === 'Deny')) {
      return denied(principal, request, 'with an explicit deny in an identity-based policy');
    }
    if (matching.length > 0) return allowed;
    const why = `because no identity-based policy allows the ${request.action} action`;
    return denied(principal, request, why);
  }
}

/** The access key in a request's credential scope; empty when it is not signed. */
export function accessKeyOf(authorization: string | undefined): string {
  const marker = 'Credential=';
  const start = authorization?.indexOf(marker) ?? -1;
  if (authorization === undefined || start === -1) return '';
  return /^[^/,\s]*/.exec(authorization.slice(start + marker.length))?.[0] ?? '';
}

function indexByAction(
  statements: readonly PolicyStatement[],
): ReadonlyMap<string, readonly PolicyStatement[]> {
  const byAction = new Map<string, PolicyStatement[]>();
  for (const statement of statements) {
    for (const action of statement.actions) {
      const name = action.toLowerCase();
      byAction.set(name, [...(byAction.get(name) ?? []), statement]);
    }
  }
  return byAction;
}

function matches(
  { resourceArns, leadingKeys }: PolicyStatement,
  request: AuthorizationRequest,
): boolean {
  if (!resourceArns.includes(request.resourceArn)) return false;
  if (leadingKeys === undefined) return true;
  const keys = request.leadingKeys?.() ?? [];
  return keys.every((key) => leadingKeys.some((pattern) => matchesPattern(key, pattern)));
}

/** Patterns are whole texts or prefixes: policy.ts lets nothing else in. */
function matchesPattern(key: string, pattern: string): boolean {
  return pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
}

function denied(
  { arn }: IndexedPrincipal,
  { action, resourceArn }: AuthorizationRequest,
  why: string,
): Decision {
  return {
    kind: 'denied',
    message: `User: ${arn} is not authorized to perform: ${action} on resource: ${resourceArn} ${why}`,
  };
}
