/**
 * A manifest without what an API server, a controller or kubectl writes: what is exported from one cluster can be given
 * to others. Pure.
 *
 * Taken out are fields that mean something in one cluster alone. Nothing else is touched: what is wrong with a manifest
 * judge-manifest.ts says.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { REVISION_HASH_LABEL, TEMPLATE_GENERATION_LABEL } from '../pod/pod-facts.ts';

/** Of metadata, as the server writes it. */
const SERVER_FIELDS: readonly string[] = [
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
];

/** Of the built-in controller and of `kubectl apply`. */
const SERVER_ANNOTATIONS: readonly string[] = [
  'deprecated.daemonset.template.generation',
  'kubectl.kubernetes.io/last-applied-configuration',
];

/** Labels of pods that a controller writes. */
const POD_LABELS: readonly string[] = [REVISION_HASH_LABEL, TEMPLATE_GENERATION_LABEL];

/** The manifest without them; parts that nothing is taken from are shared. */
export function cleanManifest(manifest: JsonObject): JsonObject {
  const { status: _status, metadata, spec, ...rest } = manifest;
  return {
    ...rest,
    ...(metadata === undefined ? {} : { metadata: cleanMetadata(metadata) }),
    ...(spec === undefined ? {} : { spec: cleanSpec(spec) }),
  };
}

function cleanMetadata(metadata: JsonObject[string]): JsonObject[string] {
  if (!isJsonObject(metadata)) return metadata;
  const kept = without(metadata, SERVER_FIELDS);
  const { annotations } = kept;
  if (!isJsonObject(annotations)) return kept;
  return { ...kept, annotations: without(annotations, SERVER_ANNOTATIONS) };
}

function cleanSpec(spec: JsonObject[string]): JsonObject[string] {
  if (!isJsonObject(spec)) return spec;
  const { template } = spec;
  if (!isJsonObject(template) || !isJsonObject(template['metadata'])) return spec;
  const { creationTimestamp: _time, ...metadata } = template['metadata'];
  const { labels } = metadata;
  const cleaned = isJsonObject(labels)
    ? { ...metadata, labels: without(labels, POD_LABELS) }
    : metadata;
  return { ...spec, template: { ...template, metadata: cleaned } };
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
