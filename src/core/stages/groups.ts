/**
 * The groups of a staged rollout: nodes by the values of the order's labels, in the order in which they open (issue 17).
 *
 * Pure, and the same for the same labels: a group is told by its name, so that a run finds again what another one opened.
 * Values that the policy lists go first, the others by name, nodes without the label after them; what `isLast` names goes
 * after everything. Without an order there is one group, whose name is empty.
 */
import { comparePlaces, placesBy } from '../policy/order-places.ts';
import type { Level } from '../policy/order-places.ts';
import type { OrderRule } from '../policy/rollout-policy.ts';
import type { StageNode } from './stage-node.ts';

/** Nodes that open together. */
export interface Group {
  /** The values, joined by `/`; `-` stands for a label that is not there. */
  readonly name: string;
  readonly nodes: readonly StageNode[];
}

/** The groups, first to last. */
export function groupNodes(
  nodes: readonly StageNode[],
  order: readonly OrderRule[],
): readonly Group[] {
  const placeOf = placesBy(order);
  const groups = new Map<
    string,
    { readonly place: readonly Level[]; readonly nodes: StageNode[] }
  >();
  for (const node of nodes) {
    const place = placeOf(node.node.labels);
    const name = place.flatMap(({ word }) => (word === '' ? [] : [word])).join('/');
    const found = groups.get(name);
    if (found === undefined) groups.set(name, { place, nodes: [node] });
    else found.nodes.push(node);
  }
  return [...groups.entries()]
    .sort(([, left], [, right]) => comparePlaces(left.place, right.place))
    .map(([name, group]) => ({ name, nodes: group.nodes }));
}
