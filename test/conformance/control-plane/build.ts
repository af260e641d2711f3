/**
 * The control plane's programs, built from the committed Go modules (go-programs.ts).
 */
import { join } from 'node:path';
import { ensurePrograms, versionFlags, type GoPrograms } from './go-programs.ts';

/** The Kubernetes release that the suites run against. */
const KUBERNETES_VERSION = 'v1.36.3';

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

const PROGRAMS: GoPrograms = {
  name: 'control-plane',
  description: `Kubernetes ${KUBERNETES_VERSION}, etcd and kwok (about 8 minutes if cold)`,
  recipes: [
    {
      module: 'etcd',
      packages: ['go.etcd.io/etcd/server/v3'],
      output: 'etcd',
      linkerFlags: '-s -w',
    },
    {
      module: 'kubernetes',
      packages: [
        'k8s.io/kubernetes/cmd/kube-apiserver',
        'k8s.io/kubernetes/cmd/kube-controller-manager',
        'k8s.io/kubernetes/cmd/kube-scheduler',
        'k8s.io/kubernetes/cmd/kubectl',
      ],
      output: '',
      linkerFlags: versionFlags(KUBERNETES_VERSION),
    },
    {
      module: 'kwok',
      packages: ['sigs.k8s.io/kwok/cmd/kwok'],
      output: 'kwok',
      linkerFlags: '-s -w',
    },
  ],
};

/**
 * Returns the programs, building them first if they are not there: about eight minutes on two
 * cores from empty caches, under a minute with Go's own cache warm. Throws without a recent Go.
 */
export async function ensureBinaries(): Promise<Binaries> {
  return binariesIn(await ensurePrograms(PROGRAMS));
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
