/**
 * Opens a context of the user's own kubeconfig, for the person at the terminal.
 *
 * An exec credential plugin in it may run here, and only here (design 8): registry data can never name
 * one. Refusals become sentences; a file that asks to skip the verification of the server is refused.
 */
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadKubeconfig } from '../../adapters/kubernetes/kubeconfig.ts';
import type { LoadedKubeconfig } from '../../adapters/kubernetes/kubeconfig.ts';
import type { CredentialPlugin } from '../../adapters/kubernetes/kubeconfig-user.ts';
import { CommandError, EXIT } from '../exit-codes.ts';

const PLUGIN_TIMEOUT_MS = 30_000;
/** As the user gave it: the engine sets AWS variables for its handlers, which are no plugin's business. */
const USER_ENVIRONMENT = { ...process.env };

/** Where kubectl would look: the first file of KUBECONFIG, or the one in the home directory. */
export function defaultKubeconfig(environment: Readonly<NodeJS.ProcessEnv>): string {
  const [first = ''] = (environment['KUBECONFIG'] ?? '').split(path.delimiter);
  return first === '' ? path.join(homedir(), '.kube', 'config') : first;
}

/** Opens a context; the current one if none is named. Throws CommandError when it cannot be used. */
export async function openKubeconfig(options: {
  readonly file: string;
  readonly context?: string;
}): Promise<LoadedKubeconfig> {
  const { file, context } = options;
  const result = await loadKubeconfig({
    path: file,
    ...(context === undefined ? {} : { context }),
    runPlugin,
  });
  if (result.kind === 'refused') {
    const known = result.available === undefined ? '' : ` It has: ${result.available.join(', ')}.`;
    throw new CommandError({
      message: `${file} cannot be used: ${result.message}${known}`,
      remedy: 'Try `kubectl --kubeconfig FILE --context NAME get nodes` with the same file.',
      exitCode: EXIT.usage,
    });
  }
  if (result.kubeconfig.isInsecure) {
    throw new CommandError({
      message: `${file} asks to skip the verification of the server’s certificate.`,
      remedy: 'Put the cluster’s certificate authority into the kubeconfig instead.',
      exitCode: EXIT.usage,
    });
  }
  return result.kubeconfig;
}

async function runPlugin(plugin: CredentialPlugin): Promise<string> {
  const { stdout } = await promisify(execFile)(plugin.command, [...plugin.args], {
    env: { ...USER_ENVIRONMENT, ...plugin.env },
    timeout: PLUGIN_TIMEOUT_MS,
  });
  return stdout;
}
