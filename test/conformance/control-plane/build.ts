/**
 * The control plane's programs, built from the committed Go modules (go-programs.ts).
 *
 * ROLLCALL_KUBERNETES chooses an older release, by its minor version: each is a module of its own, and is built
 * and kept beside the others. Nothing else changes with it; etcd and kwok are the same.
 */
import { join } from 'node:path';
import { ensurePrograms, versionFlags, type GoPrograms } from './go-programs.ts';

interface Release {
  readonly version: string;
  /** Directory of go/. */
  readonly module: string;
}

/** The Kubernetes releases that can be built, by minor version; the suites run against the newest. */
const KUBERNETES_RELEASES: Readonly<Record<string, Release>> = {
  '1.34': { version: 'v1.34.4', module: 'kubernetes-1.34' },
  '1.35': { version: 'v1.35.4', module: 'kubernetes-1.35' },
  '1.36': { version: 'v1.36.3', module: 'kubernetes' },
};
const NEWEST = '1.36';

/** Paths of the programs that were built. */
export interface Binaries {
  readonly directory: string;
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubeScheduler: string;
  readonly kubectl: string;
  readonly kwok: string;
}

const programsOf = ({ version, module }: Release): GoPrograms => ({
  name: 'control-plane',
  description: `Kubernetes ${version}, etcd and kwok (about 8 minutes if cold)`,
  recipes: [
    {
      module: 'etcd',
      packages: ['go.etcd.io/etcd/server/v3'],
      output: 'etcd',
      linkerFlags: '-s -w',
    },
    {
      module,
      packages: [
        'k8s.io/kubernetes/cmd/kube-apiserver',
        'k8s.io/kubernetes/cmd/kube-controller-manager',
        'k8s.io/kubernetes/cmd/kube-scheduler',
        'k8s.io/kubernetes/cmd/kubectl',
      ],
      output: '',
      linkerFlags: versionFlags(version),
    },
    {
      module: 'kwok',
      packages: ['sigs.k8s.io/kwok/cmd/kwok'],
      output: 'kwok',
      linkerFlags: '-s -w',
    },
  ],
});

/** The release that ROLLCALL_KUBERNETES asks for, else the newest. Throws for one that cannot be built. */
function askedRelease(environment: NodeJS.ProcessEnv = process.env): Release {
  const asked = environment['ROLLCALL_KUBERNETES'] ?? NEWEST;
  const release = KUBERNETES_RELEASES[asked];
  if (release !== undefined) return release;
  const known = Object.keys(KUBERNETES_RELEASES).join(', ');
  throw new Error(`ROLLCALL_KUBERNETES is ${asked}; there are ${known}`);
}

/**
 * Returns the programs, building them first if they are not there: about eight minutes on two
 * cores from empty caches, under a minute with Go's own cache warm. Throws without a recent Go.
 */
export async function ensureBinaries(): Promise<Binaries> {
  return binariesIn(await ensurePrograms(programsOf(askedRelease())));
}

function binariesIn(directory: string): Binaries {
  return {
    directory,
    etcd: join(directory, 'etcd'),
    kubeApiserver: join(directory, 'kube-apiserver'),
    kubeControllerManager: join(directory, 'kube-controller-manager'),
    kubeScheduler: join(directory, 'kube-scheduler'),
    kubectl: join(directory, 'kubectl'),
    kwok: join(directory, 'kwok'),
  };
}

if (import.meta.main) {
  const binaries = await ensureBinaries();
  process.stdout.write(`${binaries.directory}\n`);
}
