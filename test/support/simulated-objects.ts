/** Small helpers on raw Kubernetes objects for the simulated cluster. */
import type { PodEvent } from '../../src/core/model/projections.ts';
import type {
  Outcome,
  PatchEffect,
  RefusalCode,
  NodeEffect,
  RemoveTaintEffect,
  SetConditionEffect,
} from '../../src/core/model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type {
  DaemonSetObject,
  KubernetesObject,
  OwnerReference,
  Taint,
} from '@rollcall/base/objects.ts';
import type { NamespacedName } from '../../src/ports/stores/view-store.ts';
import type { ClusterHooks } from './simulated-hooks.ts';
import { allowsSurge } from '../../src/core/daemon-set/strategy.ts';

export function done(object: KubernetesObject): Outcome {
  return { kind: 'done', object: object as unknown as JsonObject }; // stored objects are raw JSON
}

/** S1 and S2: two pods of one DaemonSet on one node, of one revision where there is surge. */
export function findDoubles(
  pods: readonly KubernetesObject[],
  sets: readonly KubernetesObject[],
  nodeOf: (pod: KubernetesObject) => string | undefined,
): readonly string[] {
  const surging = new Set(
    sets.filter((set) => allowsSurge(set as DaemonSetObject)).map(({ metadata }) => metadata.uid),
  );
  const seen = new Map<string, string>();
  return pods.flatMap((pod) => {
    const phase = (pod['status'] as { readonly phase?: string } | undefined)?.phase;
    const owner = controllerUid(pod);
    if (owner === undefined || phase === 'Succeeded' || phase === 'Failed') return [];
    const revision = pod.metadata.labels?.['controller-revision-hash'] ?? 'no revision';
    const slot = surging.has(owner) ? ` as ${revision}` : '';
    const place = `${owner} on ${nodeOf(pod) ?? '?'}${slot}`;
    const other = seen.get(place);
    seen.set(place, pod.metadata.name);
    return other === undefined ? [] : [`S1: ${other} and ${pod.metadata.name}`];
  });
}

/** UID of the controlling owner, if there is one. */
export function controllerUid(object: KubernetesObject): string | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}

/** Equality selectors (`a=b,c=d`) and `key in (a,b)`; enough for what tests select. */
export function matchesSelectorText(
  text: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  const parts = text.split(/,(?![^(]*\))/).filter((part) => part !== '');
  return parts.every((part) => {
    const within = /^(\S+) in \(([^)]*)\)$/.exec(part);
    if (within !== null) {
      return (within[2] ?? '').split(',').includes(labels[within[1] ?? ''] ?? '');
    }
    const [key = '', value = ''] = part.split('=');
    return labels[key] === value;
  });
}

/** A patch of metadata, as far as owner references, labels and annotations go. */
export function mergeMetadata(
  metadata: KubernetesObject['metadata'],
  patch: JsonObject,
  contentType: PatchEffect['contentType'],
): KubernetesObject['metadata'] {
  const isMerge = contentType === 'application/merge-patch+json';
  const { ownerReferences, labels, annotations } = patch;
  const owners = (ownerReferences ?? []) as unknown as readonly OwnerPatch[]; // what ours hold there
  const former = metadata.ownerReferences ?? [];
  return {
    ...metadata,
    labels: mergeTexts(metadata.labels, labels),
    ...(annotations === undefined
      ? {}
      : { annotations: mergeTexts(metadata.annotations, annotations) }),
    ownerReferences:
      isMerge && ownerReferences !== undefined ? owners : mergeOwners(former, owners),
  };
}

type OwnerPatch = OwnerReference & { readonly $patch?: string };

/** By UID, as a strategic merge does it. */
function mergeOwners(
  former: readonly OwnerReference[],
  patch: readonly OwnerPatch[],
): readonly OwnerReference[] {
  let owners = former;
  for (const reference of patch) {
    owners = owners.filter((owner) => owner.uid !== reference.uid);
    if (reference.$patch !== 'delete') owners = [...owners, reference];
  }
  return owners;
}

/** Member by member; null removes. */
function mergeTexts(
  former: Readonly<Record<string, string>> | undefined,
  patch: JsonObject[string],
): Record<string, string> {
  const merged = { ...former, ...(patch as Record<string, string | null> | undefined) };
  const kept = Object.entries(merged).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return Object.fromEntries(kept);
}

const STATUS_OF: Partial<Record<RefusalCode, number>> = { invalid: 422, unauthorized: 401 };

/** The answer of an API server, or of its admission, that refuses. */
export function refusal(code: RefusalCode): Outcome {
  const status = STATUS_OF[code] ?? 403;
  const said = `refused: ${code}`;
  return { kind: 'refused', code, status, message: `HTTP ${String(status)}: ${said}`, said };
}

export function warningsAbout(
  podUid: string,
  events: readonly KubernetesObject[],
): readonly PodEvent[] {
  const about = events.filter((event) => {
    const { uid } = (event['involvedObject'] ?? {}) as { readonly uid?: string };
    return uid === podUid && event['type'] === 'Warning';
  });
  return about.map((event) => ({
    reason: String(event['reason']),
    message: String(event['message']),
  }));
}

/** Where nodes are. */
interface Nodes {
  readonly hooks: Pick<ClusterHooks, 'onTaintRemoval' | 'onConditionSet'>;
  find(kind: 'nodes', name: string): KubernetesObject | undefined;
  change(kind: 'nodes', key: NamespacedName, edit: () => KubernetesObject): KubernetesObject;
}

/** What a run may change of a node. */
export function changeNode(effect: NodeEffect, nodes: Nodes): Outcome {
  return effect.kind === 'remove-taint' ? removeTaint(effect, nodes) : setCondition(effect, nodes);
}

/** A strategic merge of the status that names the UID: what is there already changes nothing. */
function setCondition(
  { name, uid, condition, sinceMs }: SetConditionEffect,
  nodes: Nodes,
): Outcome {
  const before = nodes.find('nodes', name);
  if (before === undefined) return { kind: 'gone' };
  if (before.metadata.uid !== uid) return { kind: 'conflict', message: 'the UID differs' };
  const status = (before['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string }[];
  };
  const written = { type: condition, status: 'True', lastTransitionTime: sinceMs };
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition);
  const after = { ...before, status: { ...status, conditions: [...others, written] } };
  nodes.hooks.onConditionSet?.(before);
  if (JSON.stringify(after) === JSON.stringify(before)) return done(before);
  return done(nodes.change('nodes', { namespace: '', name }, () => after));
}

/** A JSON Patch that tests the UID, and the taint at its index. */
function removeTaint({ name, uid, index, taint }: RemoveTaintEffect, nodes: Nodes): Outcome {
  const before = nodes.find('nodes', name);
  if (before === undefined) return { kind: 'gone' };
  const spec = (before['spec'] ?? {}) as { readonly taints?: readonly Taint[] };
  const { taints = [] } = spec;
  const isSame = JSON.stringify(taints[index]) === JSON.stringify(taint);
  if (before.metadata.uid !== uid || !isSame) {
    return { kind: 'conflict', message: 'the test operation failed' };
  }
  const after = { ...before, spec: { ...spec, taints: taints.toSpliced(index, 1) } };
  nodes.hooks.onTaintRemoval?.(before, after);
  return done(nodes.change('nodes', { namespace: '', name }, () => after));
}
