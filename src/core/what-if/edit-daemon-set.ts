/**
 * A DaemonSet after an edit, as an API server would have it: merged, with the generations that it raises.
 *
 * A manifest is applied as `kubectl apply` does it: what an earlier apply wrote and the manifest leaves out goes, what
 * others wrote stays. Pure, and no validation beyond the fields that Rollcall reads (core/fleet/judge-manifest.ts).
 */
import { canonicalJson, isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { applyStrategicMergePatch } from '@rollcall/base/patch/strategic-merge-patch.ts';
import { generationOf } from '../daemon-set/generation.ts';
import { cleanManifest } from '../fleet/judge-manifest.ts';
import { DAEMON_SET_STRUCT, DAEMON_SET_TYPES } from '../fleet/daemon-set-types.ts';
import { revisionHash } from '../history/revisions.ts';
import { TEMPLATE_GENERATION_ANNOTATION } from '../pod/pod-facts.ts';
import type { EditProblem, ImageEdit } from './edit.ts';

/** What comes of it. */
export type EditedDaemonSet =
  | { readonly kind: 'edited'; readonly daemonSet: DaemonSetObject }
  | { readonly kind: 'refused'; readonly problems: readonly EditProblem[] };

/** What `kubectl apply` remembers of its last turn. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Applies a manifest that was judged before. */
export function applyManifest(live: DaemonSetObject, manifest: JsonObject): EditedDaemonSet {
  const last = lastAppliedOf(live);
  const removals = last === undefined ? {} : removalsOf(last, manifest, DAEMON_SET_STRUCT);
  return merge(live, [removals, manifest]);
}

/** A manifest as the DaemonSet that a create would make; its UID belongs to no object. */
export function createdDaemonSet(manifest: JsonObject): DaemonSetObject {
  const metadata = isJsonObject(manifest['metadata']) ? manifest['metadata'] : {};
  const annotations = isJsonObject(metadata['annotations']) ? metadata['annotations'] : {};
  const made = {
    ...manifest,
    metadata: {
      ...metadata,
      uid: 'planned',
      resourceVersion: '1',
      generation: 1,
      annotations: { ...annotations, [TEMPLATE_GENERATION_ANNOTATION]: '1' },
    },
  };
  return made as unknown as DaemonSetObject; // judged before: it has all that a decision reads
}

/** Sets images, of containers that are there. */
export function setImages(live: DaemonSetObject, images: readonly ImageEdit[]): EditedDaemonSet {
  const names = containerNames(live);
  const problems = images.flatMap(({ container }): readonly EditProblem[] => {
    const field = 'spec.template.spec.containers';
    if (container === undefined) {
      if (names.length === 1) return [];
      return [{ field, message: `are ${names.join(', ')}: say of which the image is` }];
    }
    if (names.includes(container)) return [];
    return [{ field, message: `has no ${container}; there are ${names.join(', ')}` }];
  });
  if (problems.length > 0) return { kind: 'refused', problems };
  const containers = images.map(({ container = names[0] ?? '', image }) => ({
    name: container,
    image,
  }));
  return merge(live, [{ spec: { template: { spec: { containers } } } }]);
}

function containerNames(live: DaemonSetObject): readonly string[] {
  const spec = live.spec.template.spec as unknown as Json; // as the API server gave it
  return jsonItems(jsonMember(spec, 'containers')).flatMap((one) => {
    const name = jsonMember(one, 'name');
    return typeof name === 'string' ? [name] : [];
  });
}

/** Whether pods of both templates would be of one revision. */
export function hasSameTemplate(left: DaemonSetObject, right: DaemonSetObject): boolean {
  return revisionHash(left, 0) === revisionHash(right, 0);
}

/** Whether an API server would see no difference in what a decision reads. */
export function isSameObject(left: DaemonSetObject, right: DaemonSetObject): boolean {
  return left === right || (isSameSpec(left, right) && wordsOf(left) === wordsOf(right));
}

function isSameSpec(left: DaemonSetObject, right: DaemonSetObject): boolean {
  return canonicalJson(asJson(left.spec)) === canonicalJson(asJson(right.spec));
}

/** Annotations hold the policy of a rollout. */
function wordsOf({ metadata }: DaemonSetObject): string {
  const { labels = {}, annotations = {} } = metadata;
  return canonicalJson({ labels, annotations });
}

function merge(live: DaemonSetObject, patches: readonly JsonObject[]): EditedDaemonSet {
  let merged: Json = asJson(live);
  for (const patch of patches) {
    if (!isJsonObject(merged)) break;
    const outcome = applyStrategicMergePatch(merged, patch, {
      schema: DAEMON_SET_TYPES,
      struct: DAEMON_SET_STRUCT,
    });
    if (outcome.kind !== 'patched') {
      const message = `cannot be applied: ${outcome.message}`;
      return { kind: 'refused', problems: [{ field: '', message }] };
    }
    merged = outcome.value;
  }
  const next = merged as unknown as DaemonSetObject; // the live object, with fields of a judged manifest
  if (canonicalJson(asJson(live.spec.selector)) !== canonicalJson(asJson(next.spec.selector))) {
    const message = 'cannot be changed: the API server refuses another selector';
    return { kind: 'refused', problems: [{ field: 'spec.selector', message }] };
  }
  return { kind: 'edited', daemonSet: withGenerations(live, next) };
}

/** The API server raises metadata.generation with each change of the spec, and the template's with each of the template. */
function withGenerations(live: DaemonSetObject, next: DaemonSetObject): DaemonSetObject {
  if (isSameSpec(live, next)) return next;
  const metadata = { ...next.metadata, generation: generationOf(live) + 1 };
  const { annotations } = next.metadata;
  const before = annotations?.[TEMPLATE_GENERATION_ANNOTATION];
  if (before === undefined || hasSameTemplate(live, next)) return { ...next, metadata };
  const raised = { ...annotations, [TEMPLATE_GENERATION_ANNOTATION]: String(Number(before) + 1) };
  return { ...next, metadata: { ...metadata, annotations: raised } };
}

function lastAppliedOf({ metadata }: DaemonSetObject): JsonObject | undefined {
  const text = metadata.annotations?.[LAST_APPLIED];
  if (text === undefined) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? cleanManifest(parsed) : undefined;
  } catch (error) {
    // Any client can write the annotation; kubectl refuses an unreadable one, and the last apply is unknown.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A patch that removes what the last apply wrote and the manifest has no more. */
function removalsOf(last: JsonObject, next: JsonObject, struct: string | undefined): JsonObject {
  const patch: Record<string, Json> = {};
  for (const [name, before] of Object.entries(last)) {
    const after = next[name];
    if (before === undefined || before === null) continue;
    if (after === undefined || after === null) patch[name] = null;
    else {
      const inner = removalsInside(before, after, fieldOf(struct, name));
      if (inner !== undefined) patch[name] = inner;
    }
  }
  return patch;
}

type FieldType = ReturnType<typeof DAEMON_SET_TYPES.field>;

function fieldOf(struct: string | undefined, name: string): FieldType {
  return struct === undefined ? undefined : DAEMON_SET_TYPES.field(struct, name);
}

function removalsInside(before: Json, after: Json, type: FieldType): Json | undefined {
  if (isJsonObject(before) && isJsonObject(after)) {
    const inner = removalsOf(before, after, type?.struct);
    return Object.keys(inner).length === 0 ? undefined : inner;
  }
  const key = type?.patchMergeKey;
  if (key === undefined || !Array.isArray(before) || !Array.isArray(after)) return undefined;
  const items = jsonItems(before).flatMap((item) => {
    const id = jsonMember(item, key);
    if (id === undefined || !isJsonObject(item)) return [];
    const kept = jsonItems(after).find((each) => jsonMember(each, key) === id);
    if (!isJsonObject(kept)) return [{ [key]: id, $patch: 'delete' }];
    const inner = removalsOf(item, kept, type?.struct);
    return Object.keys(inner).length === 0 ? [] : [{ [key]: id, ...inner }];
  });
  return items.length === 0 ? undefined : items;
}

/** A typed view of raw JSON is that raw JSON again. */
function asJson(value: object | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
