/**
 * A cluster and a user of a kubeconfig as client-node takes them, judged before it sees them.
 *
 * Only what counts is handed on, in kubectl's order: inline data before a file; a client certificate, then a token,
 * a token file, a provider's token, a plugin. client-node reads `token-file` where kubectl writes `tokenFile`, leaves
 * relative paths to providers as they are, and renews a provider's token without writing the new one back, which
 * would end the session of the person's own kubectl: it is given the token alone.
 */
import path from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import * as v from 'valibot';
import { PLUGIN_PROVIDER } from './credential-plugin.ts';
import type { RawEntry } from './read-files.ts';
import { refuseKubeconfig } from './refusal.ts';
import type { KubeconfigRefusal } from './refusal.ts';
import { clusterSchema, clusterWithDetourSchema, userSchema } from './schema.ts';
import type { KubeconfigCluster, KubeconfigUser } from './schema.ts';

/** A judged cluster entry. */
export interface JudgedCluster {
  readonly kind: 'cluster';
  readonly entry: KubeconfigCluster;
  readonly cluster: Cluster;
}

/** A judged user entry. */
export interface JudgedUser {
  readonly kind: 'user';
  readonly user: User;
  /** The plugin that it takes to be this user. */
  readonly exec?: NonNullable<KubeconfigUser['exec']>;
}

/** Judges a cluster; `hasDetours` if whoever connects can go through a proxy, and expect another name. */
export function judgeCluster(
  { name, content, directory }: RawEntry,
  hasDetours: boolean,
): JudgedCluster | KubeconfigRefusal {
  const parsed = hasDetours
    ? v.safeParse(clusterWithDetourSchema, content, { abortEarly: true })
    : v.safeParse(clusterSchema, content, { abortEarly: true });
  if (!parsed.success) return refuseField(`cluster "${name}"`, parsed.issues[0], 'cluster');
  const entry: KubeconfigCluster = parsed.output;
  const ca = material(entry['certificate-authority-data'], entry['certificate-authority']);
  const { 'tls-server-name': tlsServerName, 'proxy-url': proxyUrl } = entry;
  return {
    kind: 'cluster',
    entry,
    cluster: {
      name,
      server: entry.server,
      skipTLSVerify: entry['insecure-skip-tls-verify'] === true,
      ...(ca?.data === undefined ? {} : { caData: ca.data }),
      ...(ca?.file === undefined ? {} : { caFile: path.resolve(directory, ca.file) }),
      ...(tlsServerName === undefined ? {} : { tlsServerName }),
      ...(proxyUrl === undefined ? {} : { proxyUrl }),
    },
  };
}

/** Judges a user. */
export function judgeUser({ name, content, directory }: RawEntry): JudgedUser | KubeconfigRefusal {
  const parsed = v.safeParse(userSchema, content, { abortEarly: true });
  if (!parsed.success) return refuseField(`user "${name}"`, parsed.issues[0], 'user');
  const entry = parsed.output;
  const certificate = material(entry['client-certificate-data'], entry['client-certificate']);
  const key = material(entry['client-key-data'], entry['client-key']);
  if ((certificate === undefined) !== (key === undefined)) {
    return refuseKubeconfig('malformed', 'client-certificate and client-key must come together');
  }
  if (certificate !== undefined) {
    return { kind: 'user', user: { name, ...pairOf(certificate, key, directory) } };
  }
  const credential = tokenOf(entry, directory);
  if (credential !== undefined) return { kind: 'user', user: { name, ...credential } };
  const { exec } = entry;
  if (exec === undefined) return { kind: 'user', user: { name } };
  return { kind: 'user', user: { name, authProvider: { name: PLUGIN_PROVIDER } }, exec };
}

/** Where material stands: inline as base64, or in a file. */
type Material = { readonly data: string; readonly file?: never } | { data?: never; file: string };

function material(data: string | undefined, file: string | undefined): Material | undefined {
  if (data !== undefined && data !== '') return { data };
  return file === undefined || file === '' ? undefined : { file };
}

function pairOf(
  certificate: Material,
  key: Material | undefined,
  directory: string,
): Partial<User> {
  const at = (file: string): string => path.resolve(directory, file);
  return {
    ...(certificate.file === undefined
      ? { certData: certificate.data }
      : { certFile: at(certificate.file) }),
    ...(key?.file === undefined ? {} : { keyFile: at(key.file) }),
    ...(key?.data === undefined ? {} : { keyData: key.data }),
  };
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

function refuseField(whose: string, issue: v.BaseIssue<unknown>, whole: string): KubeconfigRefusal {
  const field = v.getDotPath(issue) ?? whole;
  return field.endsWith('-data') && issue.type === 'regex'
    ? refuseKubeconfig('malformed', `${whose}: ${field} is not base64`)
    : refuseKubeconfig('unsupported', `${whose}: ${field} is not supported`);
}
