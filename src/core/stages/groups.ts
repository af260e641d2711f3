/**
 * The groups of a staged rollout: nodes by the values of the order's labels, in the order in which they open (issue 17).
 *
 * Pure, and the same for the same labels: a group is told by its name, so that a run finds again what another one opened.
 * Values that the policy lists go first, the others by name, nodes without the label after them; what `isLast` names goes
 * after everything. Without an order there is one group, whose name is empty.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { labelOf } from '@rollcall/base/label-selector.ts';
import type { Labels } from '@rollcall/base/label-selector.ts';
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
  // What goes after everything is compared before everything.
  const rules = [...order.filter(({ isLast }) => isLast), ...order.filter(({ isLast }) => !isLast)];
  const groups = new Map<
    string,
    { readonly place: readonly Level[]; readonly nodes: StageNode[] }
  >();
  for (const node of nodes) {
    const place = rules.map((rule) => levelOf(node.node.labels, rule));
    const name = place.flatMap(({ word }) => (word === '' ? [] : [word])).join('/');
    const found = groups.get(name);
    if (found === undefined) groups.set(name, { place, nodes: [node] });
    else found.nodes.push(node);
  }
  return [...groups.entries()]
    .sort(([, left], [, right]) => comparePlaces(left.place, right.place))
    .map(([name, group]) => ({ name, nodes: group.nodes }));
}

/** Where a node stands by one rule. */
interface Level {
  /** Compared first. */
  readonly rank: number;
  /** Compared among equals; a part of the group's name. */
  readonly word: string;
}

/** The word of a node that does not have the label. */
const NO_LABEL = '-';

function levelOf(labels: Labels, { label, values, isLast }: OrderRule): Level {
  const value = labelOf(labels, label);
  if (isLast) {
    const isNamed = value !== undefined && (values.length === 0 || values.includes(value));
    if (!isNamed) return { rank: 0, word: '' };
    return { rank: 1, word: value === '' ? label : `${label}=${value}` };
  }
  if (value === undefined) return { rank: values.length + 1, word: NO_LABEL };
  const index = values.indexOf(value);
  return { rank: index === -1 ? values.length : index, word: value === '' ? label : value };
}

function comparePlaces(left: readonly Level[], right: readonly Level[]): number {
  for (const [index, level] of left.entries()) {
    const other = right[index] ?? level;
    const compared = level.rank - other.rank || compareText(level.word, other.word);
    if (compared !== 0) return compared;
  }
  return 0;
}
