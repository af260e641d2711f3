/**
 * Admission plug-in DefaultTolerationSeconds: pods stay five minutes on a node that is not ready or unreachable, unless
 * they say otherwise. It looks at updates too, so an update cannot take the two tolerations away.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import { listAt, objectAt, textAt } from '../../shared/json-edit.ts';

const DEFAULT_TOLERATIONS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].map(
  (key) => ({ effect: 'NoExecute', key, operator: 'Exists', tolerationSeconds: 300 }),
);

/** The pod with the two tolerations that it lacks; the same object when it lacks none. */
export function withDefaultTolerations(pod: ApiObject): ApiObject {
  const spec = objectAt(pod, 'spec');
  const tolerations = listAt(spec, 'tolerations');
  const missing = DEFAULT_TOLERATIONS.filter(
    ({ key }) => !tolerations.some((toleration) => covers(toleration, key)),
  );
  if (missing.length === 0) return pod;
  return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...missing] } };
}

function covers(toleration: JsonObject, taintKey: string): boolean {
  const key = textAt(toleration, 'key');
  const effect = textAt(toleration, 'effect');
  return (key === '' || key === taintKey) && (effect === '' || effect === 'NoExecute');
}
