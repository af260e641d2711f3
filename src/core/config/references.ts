/**
 * Which ConfigMaps and Secrets have their content in a DaemonSet's revision (ADR 0061).
 *
 * What its containers and init containers take from them: env, envFrom, volumes, projected volumes. Secrets by which images
 * are pulled or drivers log in are no content of a pod. The template is raw JSON that a user wrote: what is not as
 * documented is passed over, as an API server would refuse it. Sorted, each once, and bounded; it reads no object.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { CONFIG_OBJECTS_MAX } from '../model/projections.ts';
import type { ConfigName } from '../model/projections.ts';
import type { ConfigSelection } from '../policy/rollout-policy.ts';

/** One object that counts. */
export interface ConfigReference extends ConfigName {
  /** Pods start without it: that it is not there is content as well. */
  readonly isOptional: boolean;
}

/** What counts, by kind and name; `leftOutCount` more are beyond the bound. */
export interface ConfigReferences {
  readonly references: readonly ConfigReference[];
  readonly leftOutCount: number;
}

/** One word for an object of a namespace. */
export function configNameText({ kind, name }: ConfigName): string {
  return `${kind} ${name}`;
}

/** More than these are counted. */
export const NAMED_MAX = 8;

/** Objects by name, some of them. */
export function namesText(objects: readonly ConfigName[]): string {
  const names = objects.slice(0, NAMED_MAX).map(configNameText).join(', ');
  const more = objects.length - NAMED_MAX;
  return more > 0 ? `${names} and ${String(more)} more` : names;
}

/** Finds them. */
export function findConfigReferences(
  daemonSet: DaemonSetObject,
  selection: ConfigSelection,
): ConfigReferences {
  const found = new Map<string, ConfigReference>();
  const wanted = selection.kind === 'listed' ? namesOf(selection) : undefined;
  for (const reference of referencesOf(podSpecOf(daemonSet))) {
    const text = configNameText(reference);
    if (wanted !== undefined && !wanted.has(text)) continue;
    // One that some container needs is needed.
    const isOptional = reference.isOptional && found.get(text)?.isOptional !== false;
    found.set(text, { ...reference, isOptional });
  }
  for (const [text, name] of wanted ?? []) {
    if (!found.has(text)) found.set(text, { ...name, isOptional: false });
  }
  const sorted = [...found.entries()]
    .sort(([left], [right]) => compareText(left, right))
    .map(([, reference]) => reference);
  const references = sorted.slice(0, CONFIG_OBJECTS_MAX);
  return { references, leftOutCount: sorted.length - references.length };
}

function namesOf({
  configMaps,
  secrets,
}: Extract<ConfigSelection, { kind: 'listed' }>): ReadonlyMap<string, ConfigName> {
  const names: readonly ConfigName[] = [
    ...configMaps.map((name) => ({ kind: 'ConfigMap' as const, name })),
    ...secrets.map((name) => ({ kind: 'Secret' as const, name })),
  ];
  return new Map(names.map((name) => [configNameText(name), name]));
}

function podSpecOf(daemonSet: DaemonSetObject): JsonObject {
  const spec: unknown = daemonSet.spec.template.spec;
  return isJsonObject(spec) ? spec : {};
}

function* referencesOf(spec: JsonObject): Generator<ConfigReference> {
  for (const container of [...listIn(spec, 'initContainers'), ...listIn(spec, 'containers')]) {
    for (const source of listIn(container, 'envFrom')) {
      yield* pairIn(source, { ConfigMap: 'configMapRef', Secret: 'secretRef' });
    }
    for (const variable of listIn(container, 'env')) {
      yield* pairIn(objectIn(variable, 'valueFrom'), {
        ConfigMap: 'configMapKeyRef',
        Secret: 'secretKeyRef',
      });
    }
  }
  for (const volume of listIn(spec, 'volumes')) {
    yield* pairIn(volume, { ConfigMap: 'configMap', Secret: 'secret' });
    for (const source of listIn(objectIn(volume, 'projected'), 'sources')) {
      yield* pairIn(source, { ConfigMap: 'configMap', Secret: 'secret' });
    }
  }
}

function* pairIn(
  parent: JsonObject,
  fields: Readonly<Record<ConfigName['kind'], string>>,
): Generator<ConfigReference> {
  for (const kind of ['ConfigMap', 'Secret'] as const) {
    const source = objectIn(parent, fields[kind]);
    // A volume of a Secret says secretName, all others say name.
    const name = source['name'] ?? source['secretName'];
    if (typeof name !== 'string' || !isObjectName(name)) continue;
    yield { kind, name, isOptional: source['optional'] === true };
  }
}

/** As DNS has it: what is none has no object, and belongs in no path and no message. */
function isObjectName(name: string): boolean {
  return /^[a-z0-9][a-z0-9.-]{0,252}$/.test(name);
}

function objectIn(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  return isJsonObject(value) ? value : {};
}

function listIn(parent: JsonObject, field: string): readonly JsonObject[] {
  const value: Json | undefined = parent[field];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
