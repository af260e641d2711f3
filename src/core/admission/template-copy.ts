/**
 * The copy of a good revision's template that stands in the cluster, for admission to compare its pods with (ADR 0063).
 *
 * A ValidatingAdmissionPolicy looks nothing up but a parameter of a fixed name. So a DaemonSet under a rollout policy has up
 * to two PodTemplates of fixed names, which no controller touches: two, because the revision that may have to come back and
 * the one that was just proven are needed at once. A pod of a former revision carries a label that says which of them it is
 * made of. A copy can only be written while it is the DaemonSet's present template; infra/admission holds us to that.
 *
 * The names are those of infra/admission/policy.yaml and scripts/install/admission-policy.ts. Nothing is decided by a copy:
 * pods are made of the cluster's own history (app/reconcile/history/former.ts).
 */
import { canonicalJson, isJsonObject, isSameJson, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { CopySlot } from '../model/state.ts';

/** Label of a copy, and of a pod that is made of it; its value names the slot. */
export const COPY_LABEL = 'rollcall.dev/revision';

/** Says of which revision a copy is: its controller-revision-hash. */
const COPY_HASH_ANNOTATION = 'rollcall.dev/revision-hash';

/** The places for copies, in the order in which they are used. */
export const COPY_SLOTS: readonly CopySlot[] = ['a', 'b'];

/** Annotations of the DaemonSet that admission reads beside the template. */
const READ_BESIDE = ['eks.amazonaws.com/role-arn', 'rollcall.dev/default-priority-class'];

/** As a revision's name does: what is longer is cut, so that the suffix fits. */
const PREFIX_CHARACTERS_MAX = 223;

/** Value of the label, of a copy and of pods made of it. */
export function copyMarker(slot: CopySlot): string {
  return `proven-${slot}`;
}

/** The label by which a pod names the copy that admission compares it with. */
export function labelsOfPod(slot: CopySlot): Readonly<Record<string, string>> {
  return { [COPY_LABEL]: copyMarker(slot) };
}

/** Name of the PodTemplate. */
export function copyName(daemonSetName: string, slot: CopySlot): string {
  return `${daemonSetName.slice(0, PREFIX_CHARACTERS_MAX)}-rollcall-${copyMarker(slot)}`;
}

/**
 * The copy of a DaemonSet's present template. Its owner does not control it, and so no client asks it for its pods; it goes
 * with its owner all the same.
 */
export function buildCopy(
  daemonSet: DaemonSetObject,
  { slot, hash }: { readonly slot: CopySlot; readonly hash: string },
): JsonObject {
  const { name, namespace, uid, annotations = {} } = daemonSet.metadata;
  const beside = READ_BESIDE.flatMap((key) => {
    const value = annotations[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  return {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: {
      name: copyName(name, slot),
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...daemonSet.spec.selector?.matchLabels, ...labelsOfPod(slot) },
      annotations: { ...Object.fromEntries(beside), [COPY_HASH_ANNOTATION]: hash },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid }],
    },
    template: daemonSet.spec.template as unknown as Json, // a typed view of raw JSON
  };
}

/** True if an object that was read live says what this copy says. */
export function isSameCopy(live: KubernetesObject, copy: JsonObject): boolean {
  return textOf(live as unknown as JsonObject) === textOf(copy); // objects are raw JSON
}

/** The revision that a copy says it is of; undefined: it says nothing. Any user may have written it: it only gives a place. */
export function hashOfCopy({ metadata }: KubernetesObject): string | undefined {
  return metadata.annotations?.[COPY_HASH_ANNOTATION];
}

/** True if pods of that template are what it lets pass. */
export function holdsTemplate(copy: KubernetesObject, template: JsonObject): boolean {
  const held = withoutTime(jsonMember(copy as unknown as JsonObject, 'template')); // an object is raw JSON
  return isSameJson(held, withoutTime(template));
}

/** True if it is a copy of this DaemonSet: no foreign object is overwritten. */
export function isCopyOfOwner({ metadata }: KubernetesObject, uid: string): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.length > 0 && owners.every((owner) => owner.uid === uid);
}

function textOf({ metadata, template }: JsonObject): string {
  const { labels = null, annotations = null } = isJsonObject(metadata) ? metadata : {};
  return canonicalJson({ labels, annotations, template: withoutTime(template) });
}

/** Older releases write an empty creationTimestamp into templates. */
function withoutTime(template: Json | undefined): Json {
  if (!isJsonObject(template)) return null;
  const { metadata, ...rest } = template;
  if (!isJsonObject(metadata)) return { ...rest, metadata: {} };
  const { creationTimestamp: _time, ...kept } = metadata;
  return { ...rest, metadata: kept };
}
