/**
 * Credential plugins (`exec` of a kubeconfig) for client-node: an authenticator that runs them as kubectl does.
 *
 * client-node has one of its own, which tells the plugin nothing of its call, waits for it without an end, looks for a
 * relative path below the working directory, hands on the whole environment and hides when the credential ends. Here the
 * program runs as the user who loads the kubeconfig, or not at all (S12); no message quotes its output (S11).
 */
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js';
import type { User } from '@kubernetes/client-node';
import * as v from 'valibot';
import { KubeconfigRefused, execCredentialSchema, type KubeconfigUser } from './read-files.ts';

/** A command that a user's kubeconfig names for getting a credential. */
export interface CredentialPlugin {
  /** A name to be found on the PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment; includes KUBERNETES_EXEC_INFO. */
  readonly env: Readonly<Record<string, string>>;
}

export type RunPlugin = (plugin: CredentialPlugin) => Promise<string>;

export interface PluginSource {
  readonly exec: NonNullable<KubeconfigUser['exec']>;
  readonly userName: string;
  /** Where its relative path starts. */
  readonly directory: string;
  /** As the cluster entry has them, for a plugin that asks to be told. */
  readonly cluster: { readonly server: string; readonly 'proxy-url'?: string | undefined };
}

/** The auth-provider under which client-node finds the authenticator. */
export const PLUGIN_PROVIDER = 'rollcall-credential-plugin';

const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];

/** Why this plugin is not run; undefined if it may be. */
export function refusePlugin(
  { exec, userName }: PluginSource,
  runPlugin: RunPlugin | undefined,
): KubeconfigRefused | undefined {
  if (runPlugin === undefined) {
    return new KubeconfigRefused(
      'plugin-not-allowed',
      `user "${userName}" needs the program ${exec.command}, which may run only from the command line`,
    );
  }
  if (!EXEC_API_VERSIONS.includes(exec.apiVersion)) {
    return new KubeconfigRefused(
      'unsupported',
      `user "${userName}": exec.apiVersion is not supported`,
    );
  }
  if (exec.interactiveMode !== 'Always') return undefined;
  return new KubeconfigRefused('unsupported', `user "${userName}": its program asks questions`);
}

/** Asks the plugin when client-node asks for a credential. */
export class PluginAuthenticator implements Authenticator {
  /** When the credential ends, once it was got; undefined if it does not. */
  expiresAtMs: number | undefined;
  readonly #source: PluginSource;
  readonly #runPlugin: RunPlugin;

  constructor(source: PluginSource, runPlugin: RunPlugin) {
    this.#source = source;
    this.#runPlugin = runPlugin;
  }

  isAuthProvider(user: User): boolean {
    return (user.authProvider as { name?: unknown } | undefined)?.name === PLUGIN_PROVIDER;
  }

  /** Puts the credential into the options. Throws KubeconfigRefused. */
  async applyAuthentication(_user: User, options: RequestOptions): Promise<void> {
    const { command } = this.#source.exec;
    let output: string;
    try {
      output = await this.#runPlugin(callOf(this.#source, options));
    } catch (cause) {
      const { code } = cause as { code?: unknown };
      const detail = typeof code === 'string' || typeof code === 'number' ? ` (${code})` : '';
      throw new KubeconfigRefused('plugin-failed', `${command} failed${detail}`, { cause });
    }
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } =
      parseOutput(output) ?? {};
    if (clientCertificateData !== undefined && clientKeyData !== undefined) {
      options.cert = clientCertificateData;
      options.key = clientKeyData;
    } else if (token !== undefined && token !== '') {
      options.headers = { Authorization: `Bearer ${token}` };
    } else {
      throw new KubeconfigRefused('plugin-failed', `${command} printed no credential`);
    }
    const expiresAtMs = Date.parse(expirationTimestamp ?? '');
    this.expiresAtMs = Number.isNaN(expiresAtMs) ? undefined : expiresAtMs;
  }
}

function callOf({ exec, directory, cluster }: PluginSource, tls: RequestOptions): CredentialPlugin {
  const { apiVersion, command } = exec;
  const known = {
    ...cluster,
    'tls-server-name': tls.servername,
    'insecure-skip-tls-verify': tls.rejectUnauthorized === false ? true : undefined,
    'certificate-authority-data': Buffer.isBuffer(tls.ca) ? tls.ca.toString('base64') : undefined,
  };
  const isTold = exec.provideClusterInfo === true;
  const spec = { interactive: false, ...(isTold ? { cluster: known } : {}) };
  const environment = (exec.env ?? []).map(({ name, value }) => [name, value] as const);
  return {
    command: command.includes('/') ? path.resolve(directory, command) : command,
    args: exec.args ?? [],
    env: {
      ...Object.fromEntries(environment),
      KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
    },
  };
}

function parseOutput(
  output: string,
): v.InferOutput<typeof execCredentialSchema>['status'] | undefined {
  let document: unknown;
  try {
    document = JSON.parse(output);
  } catch {
    // Reported by the caller, without the output: it may hold a credential.
    return undefined;
  }
  const parsed = v.safeParse(execCredentialSchema, document);
  return parsed.success ? parsed.output.status : undefined;
}
