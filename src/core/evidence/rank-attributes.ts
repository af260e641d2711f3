/**
 * What the bad nodes of a breach have in common: attributes by smallest Fisher p × number of values (rollouts facts 4).
 *
 * Values that belong to exactly the same nodes are one entry (a kernel and its OS image). The product keeps an attribute of
 * twenty values from winning by chance. A cause is claimed only if even p × all entries tested is 5 % at most, and of more
 * than ten nodes; otherwise it is a list, for a person to look at.
 */
import type { NodeName } from '../model/identifiers.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { fisherOneSided } from './fisher.ts';
import { ATTRIBUTES, attributeOf } from './node-attributes.ts';
import type { AttributedNode, AttributeName } from './node-attributes.ts';

/** A node that was updated, and whether it is one of the bad. */
export interface RankedNode extends AttributedNode {
  readonly name: NodeName;
  readonly isBad: boolean;
}

/** A value of an attribute. */
export interface AttributeValue {
  readonly attribute: AttributeName;
  readonly value: string;
}

/** Values that belong to the same nodes, and how these fare. */
export interface RankedValue {
  /** The attribute of fewest values first. */
  readonly values: readonly [AttributeValue, ...AttributeValue[]];
  /** Nodes with the value, and without. */
  readonly withBad: number;
  readonly withAll: number;
  readonly withoutBad: number;
  readonly withoutAll: number;
  /** Fisher's one-sided p that bad nodes gather here by chance. */
  readonly p: number;
  /** p × number of values of that attribute: what is ranked by. */
  readonly score: number;
}

/** What the bad nodes have in common. */
export type Ranking =
  /** One entry is the cause, as far as numbers can tell. */
  | { readonly kind: 'claim'; readonly cause: RankedValue; readonly ranked: readonly RankedValue[] }
  /** Nothing is claimed: the list is where to look first. May be empty. */
  | { readonly kind: 'list'; readonly ranked: readonly RankedValue[] };

/** Entries of a ranking. */
export const RANKED_MAX = 5;
/** Chance of a false claim. */
const CLAIM_AT = 0.05;
/** Of so few nodes nothing is claimed. */
const LISTED_UP_TO_NODES = 10;

/** Attributes of the updated nodes, ranked by how well they explain which of them are bad. */
export function rankAttributes(nodes: readonly RankedNode[]): Ranking {
  const entries = mergeAlike(
    nodes,
    ATTRIBUTES.flatMap((attribute) => valuesOf(nodes, attribute)),
  );
  const ordered = entries.toSorted(compareEntries);
  const ranked = ordered.filter(({ p }) => p < 1).slice(0, RANKED_MAX);
  const [cause] = ranked;
  const isClaim =
    cause !== undefined &&
    nodes.length > LISTED_UP_TO_NODES &&
    cause.p * entries.length <= CLAIM_AT &&
    cause.score <= CLAIM_AT;
  return isClaim ? { kind: 'claim', cause, ranked } : { kind: 'list', ranked };
}

interface ValueNodes {
  readonly value: AttributeValue;
  /** How many values the attribute has. */
  readonly values: number;
  readonly nodes: readonly RankedNode[];
}

/** Values of an attribute, with their nodes; nothing if all nodes share one. */
function valuesOf(nodes: readonly RankedNode[], attribute: AttributeName): readonly ValueNodes[] {
  const groups = new Map<string, RankedNode[]>();
  for (const node of nodes) {
    const value = attributeOf(node, attribute);
    if (value === undefined) continue;
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [node]);
    else group.push(node);
  }
  return [...groups]
    .filter(([, group]) => group.length < nodes.length)
    .map(([value, group]) => ({ value: { attribute, value }, values: groups.size, nodes: group }));
}

/** One entry for all values that belong to the same nodes. */
function mergeAlike(
  all: readonly RankedNode[],
  values: readonly ValueNodes[],
): readonly RankedValue[] {
  const alike = Map.groupBy(values, ({ nodes }) =>
    nodes
      .map(({ name }) => name)
      .sort(compareText)
      .join(' '),
  );
  return [...alike.values()].flatMap((group) => {
    const [first, ...others] = group.toSorted(
      (left, right) => left.values - right.values || compareValues(left.value, right.value),
    );
    return first === undefined
      ? []
      : [
          toEntry(
            all,
            first,
            others.map(({ value }) => value),
          ),
        ];
  });
}

function toEntry(
  all: readonly RankedNode[],
  { value, values, nodes }: ValueNodes,
  others: readonly AttributeValue[],
): RankedValue {
  const withAll = nodes.length;
  const withBad = countBad(nodes);
  const withoutAll = all.length - withAll;
  const withoutBad = countBad(all) - withBad;
  const p = fisherOneSided({
    updatedBad: withBad,
    updatedGood: withAll - withBad,
    othersBad: withoutBad,
    othersGood: withoutAll - withoutBad,
  });
  return {
    values: [value, ...others],
    withBad,
    withAll,
    withoutBad,
    withoutAll,
    p,
    score: p * values,
  };
}

function countBad(nodes: readonly RankedNode[]): number {
  return nodes.filter(({ isBad }) => isBad).length;
}

function compareEntries(left: RankedValue, right: RankedValue): number {
  return (
    left.score - right.score || left.p - right.p || compareValues(left.values[0], right.values[0])
  );
}

function compareValues(left: AttributeValue, right: AttributeValue): number {
  const places = ATTRIBUTES.indexOf(left.attribute) - ATTRIBUTES.indexOf(right.attribute);
  return places || compareText(left.value, right.value);
}
