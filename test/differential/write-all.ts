/**
 * Writes to every object of a place that change nothing but metadata: an annotation, as `kubectl annotate --all` does
 * it, or the managed fields alone, as a migration does. Each is an event, and a version, of its own.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import type { MarkedField } from './scenario.ts';
import type { StepOutcome, StepTarget } from './step-target.ts';

/** The mark of the annotator; its value is the number of the step. */
export const MARK_ANNOTATION = 'others.rollcall.test/mark';

/** A change of nothing but the mark, in labels or annotations. */
export function markOf(field: MarkedField, index: number): unknown {
  return { metadata: { [field]: { [MARK_ANNOTATION]: String(index) } } };
}

/** Writes to nodes, DaemonSets, revisions and pods, one after the other; what has just gone is left out. */
export async function writeAll(
  { side, place, index }: StepTarget,
  op: 'all-annotate' | 'all-rewrite',
): Promise<StepOutcome> {
  const { nodes, daemonSets, revisions, pods } = side.mirror.at(place);
  const metadata =
    op === 'all-annotate'
      ? { annotations: { [MARK_ANNOTATION]: String(index) } }
      : { managedFields: [{}] };
  const paths = [
    ...nodes.map((it) => `/api/v1/nodes/${it.metadata.name}`),
    ...daemonSets.map((it) => inNamespace('/apis/apps/v1', 'daemonsets', it)),
    ...revisions.map((it) => inNamespace('/apis/apps/v1', 'controllerrevisions', it)),
    ...pods.map((it) => inNamespace('/api/v1', 'pods', it)),
  ];
  for (const path of paths) {
    await side.admin.request({
      method: 'PATCH',
      path: `${path}?fieldManager=others-${op}`,
      body: { metadata },
    });
  }
  return 'done';
}

function inNamespace(group: string, resource: string, { metadata }: KubernetesObject): string {
  return `${group}/namespaces/${metadata.namespace ?? ''}/${resource}/${metadata.name}`;
}
