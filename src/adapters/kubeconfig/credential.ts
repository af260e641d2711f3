/**
 * What client-node made of a user: the credential that it would send, or why it has none.
 *
 * Its failures are told by the field of the kubeconfig that they come from; texts of errors that may quote a token or
 * a key are left out (S11).
 */
import type { RequestOptions } from 'node:https';
import type { Cluster, User } from '@kubernetes/client-node';
import * as v from 'valibot';
import type { ClusterAuthentication } from '../../core/model/registration.ts';
import { KubeconfigRefused } from './refusal.ts';

/** A credential, and when it ends. */
export interface ReadCredential {
  readonly authentication: ClusterAuthentication;
  readonly expiresAtMs?: number;
}

const providerSchema = v.object({
  name: v.string(),
  config: v.optional(
    v.object({ tokenFile: v.optional(v.string()), 'id-token': v.optional(v.string()) }),
    {},
  ),
});
const claimsSchema = v.object({ exp: v.number() });

/** The credential in the options that client-node filled. Throws KubeconfigRefused. */
export function readCredential(options: RequestOptions, user: User): ReadCredential {
  const { cert, key } = options;
  if (isText(cert) && isText(key)) {
    const pair = { certificatePem: String(cert), keyPem: String(key) };
    return { authentication: { kind: 'client-certificate', ...pair } };
  }
  const provider = v.safeParse(providerSchema, user.authProvider);
  const token = bearerIn(options);
  if (token === '') {
    if (!provider.success) return { authentication: { kind: 'none' } };
    throw refuseProvider(user.name, provider.output);
  }
  const idToken = provider.success ? provider.output.config['id-token'] : undefined;
  return {
    authentication: { kind: 'bearer', token },
    ...(idToken === undefined ? {} : endOf(idToken)),
  };
}

/** One certificate or key; TLS would take several of each. */
function isText(value: unknown): value is string | Buffer {
  return typeof value === 'string' || Buffer.isBuffer(value);
}

function bearerIn({ headers }: RequestOptions): string {
  const header =
    headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : '';
  return String(header)
    .replace(/^Bearer /, '')
    .trim();
}

function refuseProvider(
  userName: string,
  { config }: v.InferOutput<typeof providerSchema>,
): KubeconfigRefused {
  if (config.tokenFile !== undefined) {
    return new KubeconfigRefused('file-unreadable', `the token file ${config.tokenFile} is empty`);
  }
  const message =
    `user "${userName}": the id-token of its auth-provider has ended, or is none; ` +
    'kubectl renews it when it is used with this context';
  return new KubeconfigRefused('token-ended', message);
}

/** Of a token that client-node could read. */
function endOf(idToken: string): { readonly expiresAtMs?: number } {
  const [, payload = ''] = idToken.split('.');
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
  const parsed = v.safeParse(claimsSchema, claims);
  return parsed.success ? { expiresAtMs: parsed.output.exp * 1000 } : {};
}

/** Why client-node gave up; what no kubeconfig can be the reason of stays as it is. */
export function refusalOf(error: unknown, cluster: Cluster, user: User): unknown {
  if (error instanceof KubeconfigRefused) return error;
  const provider = v.safeParse(providerSchema, user.authProvider);
  const { tokenFile, 'id-token': idToken } = provider.success ? provider.output.config : {};
  const files = {
    'certificate-authority': cluster.caFile,
    'client-certificate': user.certFile,
    'client-key': user.keyFile,
    token: tokenFile,
  };
  const { code = 'unknown error', path: file } = error as NodeJS.ErrnoException;
  const [label] =
    Object.entries(files).find(([, named]) => named === file && file !== undefined) ?? [];
  if (label !== undefined && file !== undefined) {
    return new KubeconfigRefused(
      'file-unreadable',
      `cannot read the ${label} file ${file}: ${code}`,
    );
  }
  if (idToken === undefined) return error;
  const message = `user "${user.name}": auth-provider.config.id-token is no token`;
  return new KubeconfigRefused('malformed', message);
}
