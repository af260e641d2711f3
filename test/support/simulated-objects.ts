/** Small helpers on raw Kubernetes objects for the simulated cluster. */
import type { JsonObject } from '../../src/core/model/json.ts';
import type { KubernetesObject, OwnerReference } from '../../src/core/model/kubernetes.ts';

/** UID of the controlling owner, if there is one. */
export function controllerUid(object: KubernetesObject): string | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}

/** Equality selectors (`a=b,c=d`) and `key in (a,b)`; enough for what tests select. */
export function matchesSelectorText(
  text: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  const parts = text.split(/,(?![^(]*\))/).filter((part) => part !== '');
  return parts.every((part) => {
    const within = /^(\S+) in \(([^)]*)\)$/.exec(part);
    if (within !== null) {
      return (within[2] ?? '').split(',').includes(labels[within[1] ?? ''] ?? '');
    }
    const [key = '', value = ''] = part.split('=');
    return labels[key] === value;
  });
}

/** Strategic merge of metadata, as far as owner references and labels go. */
export function mergeMetadata(
  metadata: KubernetesObject['metadata'],
  patch: JsonObject,
): KubernetesObject['metadata'] {
  const references = (patch['ownerReferences'] ?? []) as unknown as readonly (OwnerReference & {
    readonly $patch?: string;
  })[]; // what a patch of ours holds there
  let owners = metadata.ownerReferences ?? [];
  for (const reference of references) {
    owners = owners.filter((owner) => owner.uid !== reference.uid);
    if (reference.$patch !== 'delete') owners = [...owners, reference];
  }
  const labels = { ...metadata.labels, ...(patch['labels'] as Record<string, string> | undefined) };
  return { ...metadata, labels, ownerReferences: owners };
}
