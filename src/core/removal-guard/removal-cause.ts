/**
 * What is behind a mass removal, in words and as the object that may name who did it.
 *
 * An edit of the template's placement is told from a change of nodes by a hash of what placement reads there. Among nodes
 * the reason that most of them share is named; others are only counted.
 */
import { canonicalJson, type Json } from '@rollcall/base/json.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeView, RemovalSuspect } from '../model/plan.ts';
import { explainPlacement } from '../status/placement-words.ts';
import type { Removal } from './count-removal.ts';

const CAUSE_LENGTH_MAX = 300;
const NODES_NAMED_MAX = 3;

export interface RemovalCause {
  /** The end of a sentence that begins with the pods. */
  readonly text: string;
  readonly suspect: RemovalSuspect;
}

/** Hash of what the template says of placement: equal means that no edit moved any pod. */
export function placementHash({ spec }: DaemonSetObject): number {
  const { nodeName, nodeSelector, affinity, tolerations, hostNetwork } = spec.template.spec ?? {};
  const parts = [nodeName, nodeSelector, affinity?.nodeAffinity, tolerations, hostNetwork];
  const known = parts.map((part) => part ?? null) as unknown as Json; // parts of raw JSON
  return hash48(canonicalJson(known));
}

/** The cause of a mass removal that concerns at least one node. */
export function findCause({ leaving, left }: Removal, isEdit: boolean): RemovalCause {
  const nodes = leaving.length > 0 ? leaving : left;
  const groups = Map.groupBy(nodes, ({ reason }) => explainPlacement(reason));
  const [[why, most] = ['', nodes]] = [...groups].sort(
    ([, first], [, second]) => second.length - first.length,
  );
  const named = most.slice(0, NODES_NAMED_MAX).map(({ node }) => node.name);
  const others = most.length > named.length ? ` and ${most.length - named.length} more` : '';
  const where = `${named.join(', ')}${others} ${most.length === 1 ? 'is' : 'are'} a node that ${why}`;
  const text = isEdit ? `the pod template's placement was edited: ${where}` : where;
  const suspect: RemovalSuspect = isEdit ? { kind: 'daemon-set' } : suspectOf(most[0] ?? nodes[0]);
  return { text: text.slice(0, CAUSE_LENGTH_MAX), suspect };
}

function suspectOf(nodeView: NodeView | undefined): RemovalSuspect {
  if (nodeView === undefined) return { kind: 'daemon-set' };
  const part = nodeView.reason.code === 'TaintNotTolerated' ? 'taints' : 'labels';
  return { kind: 'node', node: nodeView.node.name, part };
}
