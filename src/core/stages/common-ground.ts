/**
 * What the bad nodes of a breach have in common, as the end of its message (rollouts facts 4).
 *
 * A cause is named only where the numbers carry it; else the first two attributes are where a person may look first. Of the
 * updated nodes alone: a node without the new revision says nothing about it.
 */
import { rankAttributes } from '../evidence/rank-attributes.ts';
import type { RankedValue } from '../evidence/rank-attributes.ts';
import type { Breach } from '../model/rollout-record.ts';
import type { StageNode } from './stage-node.ts';
import { nameOf } from './stage-node.ts';

/** Attributes that are listed where none is claimed. */
const LISTED_MAX = 2;
/** Of one bad node an attribute says nothing. */
const SHARED_BY_MIN = 2;

/** The breach with what its nodes share; as it is where they share nothing that others lack. */
export function withCommonGround(breach: Breach, nodes: readonly StageNode[]): Breach {
  const bad = new Set(breach.nodes);
  if (bad.size < SHARED_BY_MIN) return breach;
  const updated = nodes.filter(({ updated: pod }) => pod !== undefined);
  const ranking = rankAttributes(
    updated.map((each) => ({
      name: nameOf(each),
      labels: each.node.labels,
      ...(each.node.system === undefined ? {} : { system: each.node.system }),
      isBad: bad.has(nameOf(each)),
    })),
  );
  if (ranking.kind === 'claim') {
    const words = `; what they share is ${wordsOf(ranking.cause)}`;
    return { ...breach, message: breach.message + words };
  }
  const listed = ranked(ranking.ranked);
  return listed === ''
    ? breach
    : { ...breach, message: `${breach.message}; look first at ${listed}` };
}

/** Only what gathers some of the bad: an attribute by which they are fewer explains nothing. */
function ranked(values: readonly RankedValue[]): string {
  return values
    .filter(({ withBad }) => withBad >= SHARED_BY_MIN)
    .filter(
      ({ withBad, withAll, withoutBad, withoutAll }) => withBad * withoutAll > withoutBad * withAll,
    )
    .slice(0, LISTED_MAX)
    .map(wordsOf)
    .join(', ');
}

/** `kernel 6.1.2 (3 of 3 with it, 0 of 12 without)`; a value is a label's or nodeInfo's, so it is cut. */
function wordsOf({ values, withBad, withAll, withoutBad, withoutAll }: RankedValue): string {
  const [{ attribute, value }] = values;
  const shown = value.slice(0, 63).replace(/[^\x20-\x7e]/g, '?');
  const counts = `${String(withBad)} of ${String(withAll)} with it, ${String(withoutBad)} of ${String(withoutAll)} without`;
  return `${attribute} ${shown} (${counts})`;
}
