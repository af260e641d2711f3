/**
 * Cleans a manifest of what one cluster wrote into it, and judges whether clusters can be given it.
 * Pure, and no validation: quotas, webhooks and most fields are an API server's to judge. Messages
 * name fields and repeat no value.
 */
import { compileSelector, isEmptySelector } from '@rollcall/base/label-selector.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { LabelSelector } from '@rollcall/base/objects.ts';
import type { FleetKey, FleetManifest, FleetProblem } from './fleet-daemon-set.ts';
import { REVISION_HASH_LABEL, TEMPLATE_GENERATION_LABEL } from '../pod/pod-facts.ts';

type JudgedManifest =
  | { readonly kind: 'manifest'; readonly manifest: FleetManifest }
  | { readonly kind: 'invalid'; readonly problems: readonly [FleetProblem, ...FleetProblem[]] };

/** Judges a manifest of the DaemonSet `key`; an absent namespace or name is that of `key`. */
export function judgeManifest(given: JsonObject, key: FleetKey): JudgedManifest {
  const manifest = named(given, key);
  const [first, ...others] = [
    ...judgeIdentity(manifest, key),
    ...judgeStrategy(manifest),
    ...judgeSelector(manifest),
    ...judgeContainers(manifest),
  ];
  if (first !== undefined) return { kind: 'invalid', problems: [first, ...others] };
  // The judgement above proves what FleetManifest says beyond JSON.
  return { kind: 'manifest', manifest: manifest as FleetManifest };
}

function named(manifest: JsonObject, { namespace, name }: FleetKey): JsonObject {
  const { metadata = {} } = manifest;
  if (!isJsonObject(metadata)) return manifest;
  return { ...manifest, metadata: { namespace, name, ...metadata } };
}

const OWN_FIELDS: readonly string[] = ['generateName', 'ownerReferences', 'finalizers'];

function judgeIdentity(manifest: JsonObject, key: FleetKey): readonly FleetProblem[] {
  const { apiVersion, kind, metadata } = manifest;
  const problems: FleetProblem[] = [];
  const refuse = (field: string, message: string): void => {
    problems.push({ field, message });
  };
  if (apiVersion !== 'apps/v1') refuse('apiVersion', 'must be apps/v1');
  if (kind !== 'DaemonSet') refuse('kind', 'must be DaemonSet');
  if (!isJsonObject(metadata)) {
    refuse('metadata', 'must be fields');
    return problems;
  }
  for (const field of ['namespace', 'name'] as const) {
    if (metadata[field] === key[field]) continue;
    refuse(`metadata.${field}`, `must be that of the FleetDaemonSet, or absent`);
  }
  for (const field of OWN_FIELDS) {
    const isFilled = metadata[field] !== undefined && metadata[field] !== null;
    if (isFilled) refuse(`metadata.${field}`, 'belongs to one cluster: take it out');
  }
  return problems;
}

function judgeStrategy({ spec }: JsonObject): readonly FleetProblem[] {
  const type = jsonMember(jsonMember(spec, 'updateStrategy'), 'type');
  if (type === undefined || type === 'RollingUpdate' || type === 'OnDelete') return [];
  return [{ field: 'spec.updateStrategy.type', message: 'must be RollingUpdate or OnDelete' }];
}

function judgeSelector({ spec }: JsonObject): readonly FleetProblem[] {
  const selector = jsonMember(spec, 'selector');
  const labels = jsonMember(jsonMember(jsonMember(spec, 'template'), 'metadata'), 'labels');
  const field = 'spec.selector';
  if (!isSelector(selector) || isEmptySelector(selector)) {
    return [{ field, message: 'must name at least one label of the pods' }];
  }
  const compiled = compileSelector(selector);
  if (compiled.invalid !== undefined) {
    return [{ field, message: 'has an expression that cannot be used' }];
  }
  if (compiled.matches(isTexts(labels) ? labels : {})) return [];
  return [
    { field: 'spec.template.metadata.labels', message: 'must match spec.selector, all as texts' },
  ];
}

function isSelector(value: Json | undefined): value is JsonObject & LabelSelector {
  if (!isJsonObject(value)) return false;
  const { matchLabels = {}, matchExpressions = [] } = value;
  return (
    isTexts(matchLabels) &&
    Array.isArray(matchExpressions) &&
    matchExpressions.every((one: Json) => {
      const { key, operator, values = [] } = isJsonObject(one) ? one : {};
      const isText = (text: Json | undefined): boolean => typeof text === 'string';
      return isText(key) && isText(operator) && Array.isArray(values) && values.every(isText);
    })
  );
}

function isTexts(value: Json | undefined): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string');
}

const CONTAINERS_FIELD = 'spec.template.spec.containers';

function judgeContainers({ spec }: JsonObject): readonly FleetProblem[] {
  const podSpec = jsonMember(jsonMember(spec, 'template'), 'spec');
  const problems: FleetProblem[] = [];
  const restartPolicy = jsonMember(podSpec, 'restartPolicy');
  if (restartPolicy !== undefined && restartPolicy !== 'Always') {
    problems.push({ field: 'spec.template.spec.restartPolicy', message: 'must be Always' });
  }
  const containers = jsonMember(podSpec, 'containers');
  if (jsonItems(containers).length === 0) {
    problems.push({ field: CONTAINERS_FIELD, message: 'must be a list of at least one container' });
  }
  const initContainers = jsonMember(podSpec, 'initContainers');
  const names = new Set<Json>();
  const all = [
    ...jsonItems(containers).map((one, index) => ({ one, field: at('containers', index) })),
    ...jsonItems(initContainers).map((one, index) => ({ one, field: at('initContainers', index) })),
  ];
  for (const { one, field } of all) {
    const [name, image] = [jsonMember(one, 'name'), jsonMember(one, 'image')];
    if (!isFilledText(name)) problems.push({ field: `${field}.name`, message: 'is needed' });
    else if (names.has(name)) {
      problems.push({ field: `${field}.name`, message: 'is the name of another container' });
    } else names.add(name);
    if (!isFilledText(image)) problems.push({ field: `${field}.image`, message: 'is needed' });
  }
  return problems;
}

function at(list: string, index: number): string {
  return `spec.template.spec.${list}[${String(index)}]`;
}

function isFilledText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

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
