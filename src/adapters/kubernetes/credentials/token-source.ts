/**
 * A transport's credential, resolved; and bearer tokens that expire: minted on demand, kept for ten minutes,
 * minted once at a time. Secrets stay inside this adapter, out of messages, errors and log lines (S11).
 *
 * `generation` grows with each new token, so that a caller which verified a cluster's identity with an older
 * one verifies it again (protocol 24). A token never outlives the credentials that signed it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@rollcall/base/system/sha256.ts';
import { partitionOf } from '../egress/aws-partitions.ts';

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

/** A bearer token that is renewed. */
export interface TokenSource {
  /** The current token; rejects when none can be had. */
  token(): Promise<string>;
  generation(): number;
  /** The token was refused. True if the next call may give another one. */
  invalidate(): boolean;
}

/** Accepted for about 15 minutes; renewed after ten. */
const TOKEN_LIFETIME_MS = 600_000;
/** Credentials that end sooner than this are not signed with for longer. */
const EXPIRY_MARGIN_MS = 60_000;

interface Minted {
  readonly token: string;
  readonly usableUntilMs: number;
}

/** Tokens for one EKS cluster. */
export function createEksTokenSource(options: {
  readonly clusterName: string;
  readonly region: string;
  readonly awsCredentials: () => Promise<AwsCredentials>;
  readonly clock: Clock;
}): TokenSource {
  const { clock } = options;
  let minted: Minted | undefined;
  let minting: Promise<Minted> | undefined;
  let generation = 0;

  const mint = async (): Promise<Minted> => {
    const credentials = await options.awsCredentials();
    const nowMs = clock.nowMs();
    const token = await createEksToken({ ...options, credentials, nowMs });
    const expiresInMs = (credentials.expiration?.getTime() ?? Infinity) - nowMs - EXPIRY_MARGIN_MS;
    generation += 1;
    return {
      token,
      usableUntilMs: clock.monotonicMs() + Math.max(0, Math.min(TOKEN_LIFETIME_MS, expiresInMs)),
    };
  };

  return {
    generation: () => generation,
    invalidate: () => {
      minted = undefined;
      return true;
    },
    token: async () => {
      if (minted !== undefined && clock.monotonicMs() < minted.usableUntilMs) return minted.token;
      minting ??= mint().finally(() => {
        minting = undefined;
      });
      minted = await minting;
      return minted.token;
    },
  };
}

/** AWS credentials as the SDK's providers give them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

interface EksTokenRequest {
  readonly clusterName: string;
  readonly region: string;
  readonly credentials: AwsCredentials;
  /** Wall time of the signature; skew of more than a few minutes makes STS refuse it. */
  readonly nowMs: number;
}

/** Parameters in the order in which the AWS tools write them. */
const PARAMETER_ORDER = [
  'Action',
  'Version',
  'X-Amz-Algorithm',
  'X-Amz-Credential',
  'X-Amz-Date',
  'X-Amz-Expires',
  'X-Amz-SignedHeaders',
  'X-Amz-Security-Token',
  'X-Amz-Signature',
];

const CLUSTER_HEADER = 'x-k8s-aws-id';

/** True for a region of a partition that is known; anything else would choose another host. */
export function isRegion(region: string): boolean {
  return partitionOf(region) !== undefined;
}

/**
 * Makes a token (`k8s-aws-v1.…`): a presigned STS GetCallerIdentity request, signed here; the API server asks STS itself,
 * so a function reaches no host but the registered one (S12). Byte-identical to what the AWS CLI makes at the same second
 * (spec aws-facts 7). Rejects when the region is of no partition that is known.
 */
export async function createEksToken(request: EksTokenRequest): Promise<string> {
  const { clusterName, region, credentials } = request;
  const partition = partitionOf(region);
  if (partition === undefined) throw new RangeError('not an AWS region');
  const hostname = `sts.${region}.${partition.suffix}`;
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256 });
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, [CLUSTER_HEADER]: clusterName },
    },
    {
      expiresIn: 60,
      signingDate: new Date(request.nowMs),
      unhoistableHeaders: new Set([CLUSTER_HEADER]),
    },
  );
  const query = PARAMETER_ORDER.filter((name) => signed.query?.[name] !== undefined)
    .map((name) => `${name}=${encodeURIComponent(String(signed.query?.[name]))}`)
    .join('&');
  const url = `https://${hostname}/?${query}`;
  return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`;
}
