/**
 * The user of a kubeconfig context as a credential: certificate, token, token file or plugin.
 *
 * In kubectl's order: a client certificate, then a token, then a token file, then a plugin.
 */
import path from 'node:path';
import * as v from 'valibot';
import type { ClusterAuthentication } from '../../core/model/registration.ts';
import { readMaterial } from './kubeconfig-material.ts';
import { refuseKubeconfig } from './kubeconfig-refusal.ts';
import type { KubeconfigRefusal } from './kubeconfig-refusal.ts';
import { execCredentialSchema, userSchema } from './kubeconfig-schema.ts';
import type { KubeconfigUser } from './kubeconfig-schema.ts';

/** A command that a user's kubeconfig names for getting a credential. */
export interface CredentialPlugin {
  /** A name to be found on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment; includes KUBERNETES_EXEC_INFO. */
  readonly env: Readonly<Record<string, string>>;
}

/** What to resolve. */
export interface UserSource {
  readonly name: string;
  readonly user: unknown;
  readonly directory: string;
  readonly runPlugin?: (plugin: CredentialPlugin) => Promise<string>;
}

/** A resolved user. */
export type ResolvedUser =
  | {
      readonly kind: 'user';
      readonly authentication: ClusterAuthentication;
      readonly expiresAtMs?: number;
    }
  | KubeconfigRefusal;

const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];

function bearer(token: string): ResolvedUser {
  return { kind: 'user', authentication: { kind: 'bearer', token: token.trim() } };
}

async function resolveCertificate(
  user: KubeconfigUser,
  directory: string,
): Promise<ResolvedUser | undefined> {
  const certificate = await readMaterial({
    data: user['client-certificate-data'],
    file: user['client-certificate'],
    label: 'client-certificate',
    directory,
  });
  if (certificate.kind === 'refused') return certificate;
  const key = await readMaterial({
    data: user['client-key-data'],
    file: user['client-key'],
    label: 'client-key',
    directory,
  });
  if (key.kind === 'refused') return key;
  if (certificate.text === undefined && key.text === undefined) return undefined;
  if (certificate.text === undefined || key.text === undefined) {
    return refuseKubeconfig('malformed', 'client-certificate and client-key must come together');
  }
  return {
    kind: 'user',
    authentication: {
      kind: 'client-certificate',
      certificatePem: certificate.text,
      keyPem: key.text,
    },
  };
}

function pluginOf(exec: NonNullable<KubeconfigUser['exec']>, directory: string): CredentialPlugin {
  const { apiVersion, command } = exec;
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const environment = (exec.env ?? []).map(({ name, value }) => [name, value] as const);
  return {
    command: command.includes('/') ? path.resolve(directory, command) : command,
    args: exec.args ?? [],
    env: { ...Object.fromEntries(environment), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
  };
}

function parsePluginOutput(output: string): v.InferOutput<typeof execCredentialSchema> | undefined {
  let document: unknown;
  try {
    document = JSON.parse(output);
  } catch {
    // Reported by the caller, without the output: it may hold a credential.
    return undefined;
  }
  const parsed = v.safeParse(execCredentialSchema, document);
  return parsed.success ? parsed.output : undefined;
}

function credentialOf(output: string, command: string): ResolvedUser {
  const status = parsePluginOutput(output)?.status;
  const failed = refuseKubeconfig('plugin-failed', `${command} printed no credential`);
  if (status === undefined) return failed;
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  let resolved: ResolvedUser = failed;
  if (clientCertificateData !== undefined && clientKeyData !== undefined) {
    resolved = {
      kind: 'user',
      authentication: {
        kind: 'client-certificate',
        certificatePem: clientCertificateData,
        keyPem: clientKeyData,
      },
    };
  } else if (token !== undefined && token !== '') resolved = bearer(token);
  const expiresAtMs = Date.parse(expirationTimestamp ?? '');
  return resolved.kind === 'user' && !Number.isNaN(expiresAtMs)
    ? { ...resolved, expiresAtMs }
    : resolved;
}

async function resolvePlugin(
  exec: NonNullable<KubeconfigUser['exec']>,
  source: UserSource,
): Promise<ResolvedUser> {
  const { runPlugin } = source;
  if (runPlugin === undefined) {
    return refuseKubeconfig(
      'plugin-not-allowed',
      `user "${source.name}" needs the program ${exec.command}, which may run only from the command line`,
    );
  }
  if (!EXEC_API_VERSIONS.includes(exec.apiVersion)) {
    return refuseKubeconfig(
      'unsupported',
      `user "${source.name}": exec.apiVersion is not supported`,
    );
  }
  if (exec.interactiveMode === 'Always') {
    return refuseKubeconfig('unsupported', `user "${source.name}": its program asks questions`);
  }
  try {
    return credentialOf(await runPlugin(pluginOf(exec, source.directory)), exec.command);
  } catch (error) {
    const { code } = error as { code?: unknown };
    const detail = typeof code === 'string' || typeof code === 'number' ? ` (${code})` : '';
    return refuseKubeconfig('plugin-failed', `${exec.command} failed${detail}`);
  }
}

/** Resolves a user to a credential; `none` when the user names nothing. */
export async function resolveUser(source: UserSource): Promise<ResolvedUser> {
  const parsed = v.safeParse(userSchema, source.user, { abortEarly: true });
  if (!parsed.success) {
    const field = v.getDotPath(parsed.issues[0]) ?? 'user';
    return refuseKubeconfig('unsupported', `user "${source.name}": ${field} is not supported`);
  }
  const user = parsed.output;
  const certificate = await resolveCertificate(user, source.directory);
  if (certificate !== undefined) return certificate;
  if (user.token !== undefined && user.token !== '') return bearer(user.token);
  const { tokenFile } = user;
  const file = await readMaterial({ file: tokenFile, label: 'token', directory: source.directory });
  if (file.kind === 'refused') return file;
  if (file.text !== undefined) return bearer(file.text);
  if (user.exec !== undefined) return resolvePlugin(user.exec, source);
  return { kind: 'user', authentication: { kind: 'none' } };
}
