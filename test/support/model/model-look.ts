/** Looks at a model's cluster, and changes it, as users do. */
import type { Site } from '../simulation/site.ts';

interface PodShape {
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: { readonly phase?: string };
}

/** Running pods by their image. */
export function imagesOf({ api }: Site): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const pod of api.list('pods')) {
    const { spec, status } = pod as unknown as PodShape; // raw JSON of a pod
    const image = spec?.containers?.[0]?.image ?? '';
    const isRunning = status?.phase === 'Running' && pod.metadata.deletionTimestamp === undefined;
    if (isRunning) found.set(image, (found.get(image) ?? 0) + 1);
  }
  return found;
}

/** Edits the template of a DaemonSet. */
export function setImageOf({ api }: Site, name: string, image: string): void {
  api.change('daemonsets', { namespace: 'ns', name }, (object) => {
    const spec = object['spec'] as { readonly template: { readonly spec: object } };
    const containers = [{ name: 'main', image }];
    const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
    const generation = (object.metadata.generation ?? 1) + 1;
    const metadata = { ...object.metadata, generation };
    return { ...object, metadata, spec: { ...spec, template } };
  });
}
