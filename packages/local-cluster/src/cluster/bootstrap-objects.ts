/**
 * What a Kubernetes cluster has before its first use: its four namespaces and the two system priority classes.
 *
 * Created once; a restart with `--data` finds them. The UID of kube-system is the cluster's identity. The built-in RBAC
 * roles are not made: `system:masters` needs none, and the shipped manifests bring their own.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { LocalClient } from '../client/local-client.ts';
import type { ResourceName } from '../objects/api-object.ts';

const NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const;

const PRIORITY_CLASSES = [
  { name: 'system-cluster-critical', value: 2_000_000_000 },
  { name: 'system-node-critical', value: 2_000_001_000 },
] as const;

/** Creates what is missing. Throws when the API server refuses: that is a bug. */
export async function createBootstrapObjects(client: LocalClient): Promise<void> {
  for (const name of NAMESPACES) {
    await ensure(client, {
      resource: 'namespaces',
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    });
  }
  for (const { name, value } of PRIORITY_CLASSES) {
    await ensure(client, {
      resource: 'priorityclasses.scheduling.k8s.io',
      object: {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name },
        value,
        description: 'Used for system critical pods that the cluster cannot do without.',
      },
    });
  }
}

interface Wanted {
  readonly resource: ResourceName;
  readonly object: JsonObject & { readonly metadata: { readonly name: string } };
}

async function ensure(client: LocalClient, { resource, object }: Wanted): Promise<void> {
  const found = await client.get({ resource, name: object.metadata.name });
  if (found.kind === 'ok') return;
  const created = await client.create(resource, object);
  if (created.kind === 'refused') {
    throw new Error(
      `bootstrap: ${resource}/${object.metadata.name}: ${created.status.message ?? 'refused'}`,
    );
  }
}
