/**
 * Renders the shipped kustomizations (infra/) to objects, without kubectl.
 *
 * Knows what those files use: resources (files and directories), components, and patches by kind and name,
 * as a strategic merge or as JSON patches. Anything else in a kustomization is an error: what is
 * rendered here must be what `kubectl kustomize` renders, and a conformance test compares the two. Reads
 * files of this package only.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { parse, parseAllDocuments } from 'yaml';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

const KustomizationSchema = v.strictObject({
  apiVersion: v.string(),
  kind: v.picklist(['Kustomization', 'Component']),
  resources: v.optional(v.array(v.string()), []),
  components: v.optional(v.array(v.string()), []),
  patches: v.optional(
    v.array(
      v.strictObject({
        target: v.strictObject({ kind: v.string(), name: v.string() }),
        patch: v.string(),
      }),
    ),
    [],
  ),
});

/** The objects of a kustomization's directory, or of one file, in order. Throws for what is not known. */
export function renderKustomization(directory: string): readonly JsonObject[] {
  return renderInto([], directory);
}

function readObjects(file: string): readonly JsonObject[] {
  return parseAllDocuments(readFileSync(file, 'utf8'))
    .map((document) => document.toJS() as unknown)
    .filter(isJsonObject);
}

/** A component changes what is there already; a kustomization begins with its own resources. */
function renderInto(given: readonly JsonObject[], directory: string): readonly JsonObject[] {
  const file = path.join(directory, 'kustomization.yaml');
  const parsed = v.safeParse(KustomizationSchema, parse(readFileSync(file, 'utf8')));
  if (!parsed.success) {
    const field = parsed.issues[0].path?.map(({ key }) => String(key)).join('.') ?? '';
    throw new Error(`${file} uses what is not known here: ${field}`);
  }
  const { resources, components, patches } = parsed.output;
  let objects = [
    ...given,
    ...resources.flatMap((resource) => readResource(path.join(directory, resource))),
  ];
  for (const component of components) {
    objects = [...renderInto(objects, path.join(directory, component))];
  }
  for (const { target, patch } of patches) objects = patchTarget(objects, target, patch);
  return objects;
}

function readResource(file: string): readonly JsonObject[] {
  return existsSync(path.join(file, 'kustomization.yaml'))
    ? renderKustomization(file)
    : readObjects(file);
}

/** What names an object; empty where it says nothing, as the namespace of what belongs to the whole cluster. */
type Identity = Readonly<Record<'apiVersion' | 'kind' | 'namespace' | 'name', string>>;

/** Reads it. */
export function objectIdentity(object: JsonObject): Identity {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion: text(apiVersion),
    kind: text(kind),
    namespace: text(jsonMember(metadata, 'namespace')),
    name: text(jsonMember(metadata, 'name')),
  };
}

/** True for the object of this kind and name. */
export function isObject(object: JsonObject, wanted: Pick<Identity, 'kind' | 'name'>): boolean {
  const { kind, name } = objectIdentity(object);
  return kind === wanted.kind && name === wanted.name;
}

/** Kind and name of a target are patterns for the whole text, as in kustomize. */
function patchTarget(
  objects: readonly JsonObject[],
  target: Pick<Identity, 'kind' | 'name'>,
  patch: string,
): JsonObject[] {
  const content = parse(patch) as Json;
  const [kind, name] = [target.kind, target.name].map((text) => new RegExp(`^(?:${text})$`));
  let count = 0;
  const patched = objects.flatMap((object) => {
    const identity = objectIdentity(object);
    if (kind?.test(identity.kind) !== true || name?.test(identity.name) !== true) return [object];
    count += 1;
    return patchObject(object, content);
  });
  if (count === 0) throw new Error(`a patch finds no ${target.kind} ${target.name}`);
  return patched;
}

function patchObject(object: JsonObject, content: Json): readonly JsonObject[] {
  if (jsonMember(content, '$patch') === 'delete') return [];
  const result = Array.isArray(content)
    ? changeMembers(object, content)
    : mergeStrategic(object, content);
  if (!isJsonObject(result)) throw new Error('a patch leaves no object');
  return [result];
}

/** Lists that Kubernetes merges by a key, as far as the shipped patches touch them. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  containers: 'name',
  env: 'name',
  volumes: 'name',
  volumeMounts: 'mountPath',
};

/**
 * Merges a patch as `kubectl` does for known types: objects member by member, null removes, the lists of
 * MERGE_KEYS by their key (new items first, as kustomize puts them), other lists are replaced.
 */
function mergeStrategic(base: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = isJsonObject(base) ? { ...base } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === null) Reflect.deleteProperty(merged, name);
    else merged[name] = mergeMember(name, merged[name], value);
  }
  return merged;
}

function mergeMember(name: string, base: Json | undefined, patch: Json): Json {
  const key = MERGE_KEYS[name];
  if (key === undefined || !Array.isArray(base) || !Array.isArray(patch)) {
    return mergeStrategic(base, patch);
  }
  const changes = new Map(jsonItems(patch).map((item) => [jsonMember(item, key), item]));
  const kept = jsonItems(base).map((item) => {
    const change = changes.get(jsonMember(item, key));
    changes.delete(jsonMember(item, key));
    return change === undefined ? item : mergeStrategic(item, change);
  });
  return [...changes.values(), ...kept];
}

function changeMembers(object: JsonObject, content: Json): Json {
  const outcome = applyJsonPatch(object, content);
  if (outcome.kind !== 'patched') throw new Error(`a patch does not apply: ${outcome.message}`);
  return outcome.value;
}
