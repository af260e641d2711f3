/**
 * EKS tokens: a presigned STS GetCallerIdentity request as a bearer token.
 *
 * Nothing is called here: the URL is signed locally and the cluster's API server asks STS itself, so
 * a function reaches no host but the registered one (S12). The output is byte-identical to what the
 * AWS CLI and botocore make at the same second (spec aws-facts 7; vector in the unit test).
 * The server accepts a token for about 15 minutes; callers renew it earlier (token-source.ts).
 */
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@rollcall/base/system/sha256.ts';
import { partitionOf } from '../egress/aws-partitions.ts';

/** AWS credentials as the SDK's providers give them. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export interface EksTokenRequest {
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
 * Makes a token (`k8s-aws-v1.…`). Rejects when the region is of no partition that is known.
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
