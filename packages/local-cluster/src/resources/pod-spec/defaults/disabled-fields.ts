/**
 * Fields whose feature is off by default in this release: the API server drops them as it stores a pod or a template.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  editItemsAt,
  editObjectAt,
  optionalObjectAt,
  withoutMember,
} from '../../shared/json-edit.ts';

/** The spec without them; the same object when it has none. */
export function dropDisabledFields(spec: JsonObject): JsonObject {
  let result = spec;
  for (const list of ['containers', 'initContainers']) {
    result = editItemsAt(result, list, dropStopSignal);
  }
  return result;
}

/** ContainerStopSignals. */
function dropStopSignal(container: JsonObject): JsonObject {
  const dropped = editObjectAt(container, 'lifecycle', (it) => withoutMember(it, 'stopSignal'));
  const lifecycle = optionalObjectAt(dropped, 'lifecycle');
  if (dropped === container || lifecycle === undefined) return container;
  return Object.keys(lifecycle).length === 0 ? withoutMember(dropped, 'lifecycle') : dropped;
}
