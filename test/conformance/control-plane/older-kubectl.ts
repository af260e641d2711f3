/**
 * A kubectl four releases older than the control plane, as laptops have it: the system's where that is one, else built.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensurePrograms, versionFlags } from './go-programs.ts';

const VERSION = 'v1.32.13';
/** Not the wrappers of cloud tools, which start another kubectl as they think best. */
const PLAIN_VERSION = /^v1\.32\.\d+$/;

/** Path of a kubectl 1.32. Throws without one, and without a recent Go to build it. */
export async function ensureOlderKubectl(): Promise<string> {
  if (PLAIN_VERSION.test(systemVersion())) return 'kubectl';
  const directory = await ensurePrograms({
    name: 'kubectl-1.32',
    description: `kubectl ${VERSION} (about 3 minutes if cold)`,
    recipes: [
      {
        module: 'kubectl-1.32',
        packages: ['k8s.io/kubernetes/cmd/kubectl'],
        output: '',
        linkerFlags: versionFlags(VERSION),
      },
    ],
  });
  return join(directory, 'kubectl');
}

function systemVersion(): string {
  const outcome = spawnSync('kubectl', ['version', '--client', '--output=json'], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  if (outcome.error !== undefined || outcome.status !== 0) return '';
  const version = JSON.parse(outcome.stdout) as { clientVersion?: { gitVersion?: string } };
  return version.clientVersion?.gitVersion ?? '';
}
