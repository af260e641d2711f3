/**
 * An edit that is not made yet: of a DaemonSet, and of nodes, as `rollcall plan` is asked about it.
 *
 * Values only. What is wrong with one is a problem that names the field or the node, and repeats no value of a manifest.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Taint, TaintEffect } from '@rollcall/base/objects.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection } from '../model/projections.ts';

/** What is done to one node. */
export type NodeEdit = { readonly node: NodeName } & (
  | { readonly kind: 'label'; readonly key: string; readonly value: string }
  | { readonly kind: 'unlabel'; readonly key: string }
  | { readonly kind: 'taint'; readonly taint: Taint }
  /** `effect` absent: taints of that key with any effect. */
  | { readonly kind: 'untaint'; readonly key: string; readonly effect?: TaintEffect }
  | { readonly kind: 'cordon' }
  | { readonly kind: 'uncordon' }
  | { readonly kind: 'delete' }
);

/** The image of one container; `container` absent: of the only one. */
export interface ImageEdit {
  readonly container?: string;
  readonly image: string;
}

export type DaemonSetEdit =
  | { readonly kind: 'none' }
  /** Applied as `kubectl apply -f` does. */
  | { readonly kind: 'apply'; readonly manifest: JsonObject }
  | { readonly kind: 'images'; readonly images: readonly ImageEdit[] }
  | { readonly kind: 'delete' };

/** All of it at once. */
export interface Edit {
  readonly daemonSet: DaemonSetEdit;
  readonly nodes: readonly NodeEdit[];
}

/** Why an edit would be refused: where, and what would be right. */
export interface EditProblem {
  readonly field: string;
  readonly message: string;
}

export type EditedNodes =
  | { readonly kind: 'nodes'; readonly nodes: readonly NodeProjection[] }
  | { readonly kind: 'refused'; readonly problems: readonly EditProblem[] };

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** The nodes as the API server and its node controller leave them after the edits, in their order. */
export function editNodes(
  before: readonly NodeProjection[],
  edits: readonly NodeEdit[],
): EditedNodes {
  if (edits.length === 0) return { kind: 'nodes', nodes: before };
  const nodes = new Map(before.map((node) => [node.name, node]));
  const problems: EditProblem[] = [];
  for (const edit of edits) {
    const node = nodes.get(edit.node);
    if (node === undefined) {
      problems.push({ field: `node ${edit.node}`, message: 'is not in the view of the cluster' });
    } else if (edit.kind === 'delete') nodes.delete(edit.node);
    else nodes.set(edit.node, editNode(node, edit));
  }
  if (problems.length > 0) return { kind: 'refused', problems };
  return { kind: 'nodes', nodes: [...nodes.values()] };
}

function editNode(
  node: NodeProjection,
  edit: Exclude<NodeEdit, { readonly kind: 'delete' }>,
): NodeProjection {
  switch (edit.kind) {
    case 'label':
      return { ...node, labels: { ...node.labels, [edit.key]: edit.value } };
    case 'unlabel': {
      const labels = Object.entries(node.labels).filter(([key]) => key !== edit.key);
      return { ...node, labels: Object.fromEntries(labels) };
    }
    case 'taint':
      return { ...node, taints: withTaint(node.taints, edit.taint) };
    case 'untaint':
      return { ...node, taints: withoutTaint(node.taints, edit) };
    case 'cordon':
      return { ...node, unschedulable: true, taints: withTaint(node.taints, CORDON) };
    case 'uncordon':
      return { ...node, unschedulable: false, taints: withoutTaint(node.taints, CORDON) };
  }
}

/** A node has one taint of a key and an effect. */
function withTaint(taints: readonly Taint[], taint: Taint): readonly Taint[] {
  return [...withoutTaint(taints, taint), taint];
}

function withoutTaint(
  taints: readonly Taint[],
  { key, effect }: { readonly key: string; readonly effect?: TaintEffect },
): readonly Taint[] {
  return taints.filter(
    (taint) => taint.key !== key || (effect !== undefined && taint.effect !== effect),
  );
}
