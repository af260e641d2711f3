/**
 * A kubeconfig for local clusters: one context for each, as its administrator.
 */
import { stringify } from 'yaml';
import type { LocalCluster } from './local-cluster.ts';

/** The text of the file; the first cluster is the current context. It holds secrets: write it for the user alone. */
export function renderKubeconfig(clusters: readonly LocalCluster[]): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': clusters[0]?.name ?? '',
    clusters: clusters.map(({ name, server, caPem }) => ({
      name,
      cluster: {
        server,
        'certificate-authority-data': Buffer.from(caPem).toString('base64'),
      },
    })),
    users: clusters.map(({ name, tokens }) => ({
      name: `${name}-admin`,
      user: { token: tokens.admin },
    })),
    contexts: clusters.map(({ name }) => ({
      name,
      context: { cluster: name, user: `${name}-admin` },
    })),
    preferences: {},
  });
}
