/**
 * A cluster and a user of a kubeconfig as client-node takes them, judged before it sees them.
 *
 * Only what counts is handed on, in kubectl's order: inline data before a file; a client certificate, then a token,
 * a token file, a provider's token, a plugin. client-node reads `token-file` where kubectl writes `tokenFile`, leaves
 * relative paths to providers as they are, and renews a provider's token without writing the new one back, which
 * would end the session of the person's own kubectl: it is given the token alone.
 */
import path from 'node:path';
import { defined } from '@rollcall/base/defined.ts';
import type { Cluster, User } from '@kubernetes/client-node';
import * as v from 'valibot';
import { PLUGIN_PROVIDER } from './credential-plugin.ts';
import type { RawEntry } from './read-files.ts';
import { KubeconfigRefused } from './refusal.ts';
import { clusterSchema, clusterWithDetourSchema, userSchema } from './schema.ts';
import type { KubeconfigCluster, KubeconfigUser } from './schema.ts';

export interface JudgedCluster {
  readonly entry: KubeconfigCluster;
  readonly cluster: Cluster;
}

export interface JudgedUser {
  readonly user: User;
  /** The plugin that it takes to be this user. */
  readonly exec?: NonNullable<KubeconfigUser['exec']>;
}

/**
 * Judges a cluster; `hasDetours` if whoever connects can go through a proxy, and expect another name. Throws
 * KubeconfigRefused.
 */
export function judgeCluster(
  { name, content, directory }: RawEntry,
  hasDetours: boolean,
): JudgedCluster {
  const parsed = hasDetours
    ? v.safeParse(clusterWithDetourSchema, content, { abortEarly: true })
    : v.safeParse(clusterSchema, content, { abortEarly: true });
  if (!parsed.success) throw refuseField(`cluster "${name}"`, parsed.issues[0], 'cluster');
  const entry: KubeconfigCluster = parsed.output;
  const ca = material(entry, 'certificate-authority', directory);
  const { 'tls-server-name': tlsServerName, 'proxy-url': proxyUrl } = entry;
  return {
    entry,
    cluster: {
      name,
      server: entry.server,
      skipTLSVerify: entry['insecure-skip-tls-verify'] === true,
      ...defined({ caData: ca?.data, caFile: ca?.file, tlsServerName, proxyUrl }),
    },
  };
}

/** Judges a user. Throws KubeconfigRefused. */
export function judgeUser({ name, content, directory }: RawEntry): JudgedUser {
  const parsed = v.safeParse(userSchema, content, { abortEarly: true });
  if (!parsed.success) throw refuseField(`user "${name}"`, parsed.issues[0], 'user');
  const entry = parsed.output;
  const certificate = material(entry, 'client-certificate', directory);
  const key = material(entry, 'client-key', directory);
  if ((certificate === undefined) !== (key === undefined)) {
    throw new KubeconfigRefused(
      'malformed',
      'client-certificate and client-key must come together',
    );
  }
  if (certificate !== undefined) {
    const files = { certFile: certificate.file, keyFile: key?.file };
    const data = { certData: certificate.data, keyData: key?.data };
    return { user: { name, ...defined({ ...files, ...data }) } };
  }
  const credential = tokenOf(entry, directory);
  if (credential !== undefined) return { user: { name, ...credential } };
  const { exec } = entry;
  if (exec === undefined) return { user: { name } };
  return { user: { name, authProvider: { name: PLUGIN_PROVIDER } }, exec };
}

/** Where a certificate or key stands: inline as base64, or in a file. */
function material<Name extends 'certificate-authority' | 'client-certificate' | 'client-key'>(
  entry: { readonly [field in Name | `${Name}-data`]?: string | undefined },
  name: Name,
  directory: string,
): { readonly data?: string; readonly file?: string } | undefined {
  const { [`${name}-data` as const]: data = '', [name]: file = '' } = entry;
  if (data !== '') return { data };
  return file === '' ? undefined : { file: path.resolve(directory, file) };
}

function tokenOf(entry: KubeconfigUser, directory: string): Partial<User> | undefined {
  const { token = '', tokenFile = '', 'auth-provider': provider } = entry;
  if (token !== '') return { token };
  if (tokenFile !== '') {
    const config = { tokenFile: path.resolve(directory, tokenFile) };
    return { authProvider: { name: 'tokenFile', config } };
  }
  if (provider === undefined) return undefined;
  return { authProvider: { name: 'oidc', config: { 'id-token': provider.config?.['id-token'] } } };
}

function refuseField(whose: string, issue: v.BaseIssue<unknown>, whole: string): KubeconfigRefused {
  const field = v.getDotPath(issue) ?? whole;
  return field.endsWith('-data') && issue.type === 'regex'
    ? new KubeconfigRefused('malformed', `${whose}: ${field} is not base64`)
    : new KubeconfigRefused('unsupported', `${whose}: ${field} is not supported`);
}
