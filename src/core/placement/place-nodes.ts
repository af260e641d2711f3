/**
 * Placement of a template on all nodes of a view, by node name, remembered for as long as that list of nodes lives.
 *
 * A warm process is given the same list by run after run, because nodes change seldom while pods come and go; sorting and
 * deciding thousands of them anew cost more than the rest of such a run. What is remembered is what would be decided
 * again: projections are never changed in place, and their list and the template are compared as a whole.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeView } from '../model/plan.ts';
import type { NodeProjection } from '../model/projections.ts';
import { decidePlacement, preparePlacement } from './placement.ts';

/** One node, and whether the DaemonSet's pod belongs there. */
export type PlacedNode = Pick<NodeView, 'node' | 'placement' | 'reason'>;

/** Templates remembered for one list of nodes: more DaemonSets than a cluster has, as a rule. */
const TEMPLATES_MAX = 128;
const remembered = new WeakMap<readonly NodeProjection[], Placements>();

interface Placements {
  /** The list as it was: a list may be changed in place, a projection never is. */
  readonly nodes: readonly NodeProjection[];
  readonly byTemplate: Map<string, readonly PlacedNode[]>;
}

/** Decides all nodes; ascending by name. */
export function placeNodes(
  daemonSet: DaemonSetObject,
  nodes: readonly NodeProjection[],
): readonly PlacedNode[] {
  const template = JSON.stringify(daemonSet.spec.template.spec ?? {});
  const { byTemplate } = placementsOf(nodes);
  const found = byTemplate.get(template);
  // Stryker disable next-line ConditionalExpression: what is remembered is what would be decided again
  if (found !== undefined) return found;
  const prepared = preparePlacement(daemonSet);
  const placed = nodes
    .map((node): PlacedNode => ({ node, ...decidePlacement(prepared, node) }))
    .sort((left, right) => compareText(left.node.name, right.node.name));
  // Stryker disable next-line ConditionalExpression, EqualityOperator: a memory of another size is only slower or larger
  if (byTemplate.size >= TEMPLATES_MAX) byTemplate.clear();
  // Stryker disable next-line CallExpression: what is not remembered is decided again
  byTemplate.set(template, placed);
  return placed;
}

function placementsOf(nodes: readonly NodeProjection[]): Placements {
  const known = remembered.get(nodes);
  const isSame =
    known?.nodes.length === nodes.length && nodes.every((node, at) => known.nodes[at] === node);
  if (known !== undefined && isSame) return known;
  const fresh: Placements = { nodes: [...nodes], byTemplate: new Map() };
  remembered.set(nodes, fresh);
  return fresh;
}
