/**
 * Defaults of containers, in whatever list they stand: pull policy, termination message, protocols, probes, handlers.
 *
 * The pull policy follows from the image's tag where none is given; a stored one stays when a patch changes the image.
 * Amounts are rounded up to thousandths. Requests do not follow from limits here: that is done for pods alone, not for
 * templates (pods/defaults). A container that has them all comes back as the very same object.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  editItemsAt,
  editObjectAt,
  isPresent,
  textAt,
  withDefaults,
} from '../../shared/json-edit.ts';
import { roundUpResourceList } from '../../shared/resource-lists.ts';
import { defaultPullPolicy } from './image-name.ts';
import { applyFieldReferenceDefaults } from './volume-defaults.ts';

const CONTAINER_DEFAULTS = {
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  resources: {},
};
const PORT_DEFAULTS = { protocol: 'TCP' };
const HTTP_DEFAULTS = { path: '/', scheme: 'HTTP' };
const GRPC_DEFAULTS = { service: '' };
const PROBE_DEFAULTS = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

/** A container, of whatever list, with its defaults; the same one when it has them. */
export function applyContainerDefaults(container: JsonObject): JsonObject {
  let result = container;
  if (!isPresent(result, 'imagePullPolicy')) {
    result = { ...result, imagePullPolicy: defaultPullPolicy(textAt(result, 'image')) };
  }
  result = withDefaults(result, CONTAINER_DEFAULTS);
  result = editItemsAt(result, 'ports', (port) => withDefaults(port, PORT_DEFAULTS));
  result = editItemsAt(result, 'env', variable);
  result = editObjectAt(result, 'resources', roundUpResources);
  result = editObjectAt(result, 'livenessProbe', probe);
  result = editObjectAt(result, 'readinessProbe', probe);
  result = editObjectAt(result, 'startupProbe', probe);
  return editObjectAt(result, 'lifecycle', lifecycle);
}

/** Limits and requests in thousandths at the finest. */
export function roundUpResources(resources: JsonObject): JsonObject {
  const withLimits = editObjectAt(resources, 'limits', roundUpResourceList);
  return editObjectAt(withLimits, 'requests', roundUpResourceList);
}

function variable(entry: JsonObject): JsonObject {
  return editObjectAt(entry, 'valueFrom', (source) =>
    editObjectAt(applyFieldReferenceDefaults(source), 'fileKeyRef', (it) =>
      withDefaults(it, { optional: false }),
    ),
  );
}

function probe(value: JsonObject): JsonObject {
  return httpGet(
    editObjectAt(withDefaults(value, PROBE_DEFAULTS), 'grpc', (it) =>
      withDefaults(it, GRPC_DEFAULTS),
    ),
  );
}

function lifecycle(value: JsonObject): JsonObject {
  return editObjectAt(editObjectAt(value, 'postStart', httpGet), 'preStop', httpGet);
}

function httpGet(handler: JsonObject): JsonObject {
  return editObjectAt(handler, 'httpGet', (it) => withDefaults(it, HTTP_DEFAULTS));
}
