/**
 * The annotation that the real server puts on every DaemonSet when it writes one out whole, and nowhere else: it is a
 * field of its internal type. So tables and bare metadata do not show it, and bookmarks, which are empty DaemonSets, do.
 */
import type { Metadata } from '../../objects/api-object.ts';
import type { Resource } from '../../resources/shared/resource.ts';

const ANNOTATION = 'deprecated.daemonset.template.generation';

/** Metadata without the annotation, for what is not a whole object. */
export function withoutTemplateGeneration(metadata: Metadata): Metadata {
  const { annotations } = metadata;
  if (annotations?.[ANNOTATION] === undefined) return metadata;
  const { [ANNOTATION]: _generation, ...others } = annotations;
  const { annotations: _annotations, ...rest } = metadata;
  return Object.keys(others).length === 0 ? rest : { ...metadata, annotations: others };
}

/** Annotations of a bookmark of a resource. */
export function bookmarkAnnotations({ resourceName }: Resource): Readonly<Record<string, string>> {
  return resourceName === 'daemonsets.apps' ? { [ANNOTATION]: '0' } : {};
}
