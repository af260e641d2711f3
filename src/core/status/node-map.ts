/**
 * Every node of every cluster by the reason that matters most there, in columns: 20,000 nodes are less than a megabyte.
 *
 * A node is as its worst DaemonSet. One of which nothing can be told is worse than one that serves: no picture shows as well what
 * is not known.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import { REASONS, type ReasonCode, type ReasonKind } from './reasons.ts';

/** A node of a DaemonSet. */
export interface NodeReading {
  readonly code: ReasonCode;
  /** Revision hash of its pod; absent: no pod, or one without. */
  readonly release?: string;
}

/** The nodes of a DaemonSet, as the map shows them. */
export interface SetReading {
  /** namespace/name. */
  readonly name: string;
  /** Undefined: nothing can be told of them now. */
  readonly nodes: ReadonlyMap<NodeName, NodeReading> | undefined;
}

/** A cluster, as the map shows it. */
export interface ClusterReading {
  readonly id: string;
  /** As tables have it. */
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Why nothing of it can be told now; absent: it can. */
  readonly unknown?: string;
  readonly names: readonly NodeName[];
  readonly sets: readonly SetReading[];
}

/** A cluster of the map. Columns have an entry for each name. */
export interface MappedCluster extends Pick<ClusterReading, 'id' | 'state' | 'labels' | 'unknown'> {
  /** False: no node of it can be judged now. */
  readonly isKnown: boolean;
  /** Of its nodes, in order. */
  readonly names: readonly string[];
  /** Indexes into `reasons`; -1: not known, or no DaemonSet is asked about there. */
  readonly reason: readonly number[];
  /** Indexes into `releases`; -1: no pod. */
  readonly release: readonly number[];
  /** Which DaemonSet it is about: indexes into `daemonSets`; -1: none. */
  readonly daemonSet: readonly number[];
}

/** The map. */
export interface NodeMap {
  /** Codes of reasons, as docs/reference/codes.md has them. */
  readonly reasons: readonly string[];
  /** Revision hashes. */
  readonly releases: readonly string[];
  /** namespace/name. */
  readonly daemonSets: readonly string[];
  readonly clusters: readonly MappedCluster[];
}

/** The worst first. */
const RANKS: readonly (ReasonKind | 'unknown')[] = [
  ...(['failing', 'held', 'coming', 'unknown', 'serving', 'not-wanted'] as const),
];

/** Draws it. */
export function drawNodeMap(readings: readonly ClusterReading[]): NodeMap {
  const [reasons, releases, daemonSets] = [new Index(), new Index(), new Index()];
  const clusters = readings.map(({ id, state, labels, unknown, names: found, sets }) => {
    const names = found.toSorted(compareText);
    const worst = names.map((name) => (unknown === undefined ? worstOf(name, sets) : undefined));
    return {
      ...{ id, state, labels, isKnown: unknown === undefined },
      ...(unknown === undefined ? {} : { unknown }),
      names,
      reason: worst.map((one) => reasons.of(one?.node?.code)),
      release: worst.map((one) => releases.of(one?.node?.release)),
      daemonSet: worst.map((one) => daemonSets.of(one?.set)),
    };
  });
  const texts = { reasons: reasons.texts, releases: releases.texts };
  return { ...texts, daemonSets: daemonSets.texts, clusters };
}

interface Worst {
  readonly set: string;
  /** Undefined: not known. */
  readonly node: NodeReading | undefined;
}

/** Of the DaemonSets in their order, the first of the worst. */
function worstOf(name: NodeName, sets: readonly SetReading[]): Worst | undefined {
  let worst: Worst | undefined;
  let worstRank = RANKS.length;
  for (const { name: set, nodes } of sets) {
    const node = nodes?.get(name);
    const rank = RANKS.indexOf(node === undefined ? 'unknown' : REASONS[node.code].kind);
    if (rank < worstRank) [worst, worstRank] = [{ set, node }, rank];
  }
  return worst;
}

/** Texts, each once, by the order in which they were met. */
class Index {
  readonly #at = new Map<string, number>();

  get texts(): readonly string[] {
    return [...this.#at.keys()];
  }

  /** -1 of nothing. */
  of(text: string | undefined): number {
    if (text === undefined) return -1;
    const known = this.#at.get(text);
    if (known !== undefined) return known;
    this.#at.set(text, this.#at.size);
    return this.#at.size - 1;
  }
}
