/**
 * The objects of a large quiet cluster as an API server would write them, made when they are asked for.
 *
 * One text per owner, its marks filled for each object (large-cluster-objects.ts): a hundred thousand objects are never
 * held. Nothing of them ever changes but what `said` says of a node.
 */
import type { WatchedKind } from '../../../src/core/model/projections.ts';
import {
  REVISIONS,
  RING,
  daemonNameOf,
  daemonSetOf,
  nodeNameOf,
  nodeOf,
  podOf,
  range,
  revisionOf,
  uidOf,
} from './large-cluster-objects.ts';

export interface LargeClusterSize {
  readonly nodes: number;
  readonly daemonSets: number;
  /** Pods that no DaemonSet owns. */
  readonly otherPods: number;
}

export interface NodeWords {
  readonly version: number;
  readonly heartbeat: string;
  /** Value of the label that half of the DaemonSets select by; empty: it has none. */
  readonly ring: string;
}

/** A cluster's objects by kind and number, without apiVersion and kind: an item of a list. */
export interface LargeCluster {
  readonly counts: Readonly<Record<WatchedKind, number>>;
  /** The highest version among them. */
  readonly version: number;
  readonly textOf: (kind: WatchedKind, index: number, said?: NodeWords) => string;
}

const FIRST_VERSION = 41_000_000;
const REPLICAS = 100;
const STARTED_MS = Date.parse('2026-11-01T00:00:00Z');
const LISTED: NodeWords = { version: 0, heartbeat: '2026-11-24T12:00:00Z', ring: RING };
const MARKS = /@(name|node|uid|version|at|heartbeat|ring|ip|owner)@/g;

type Words = Readonly<Record<string, string>>;

/** Describes it; nothing is made yet. */
export function describeLargeCluster(size: LargeClusterSize): LargeCluster {
  const { nodes, daemonSets, otherPods } = size;
  const counts = {
    Node: nodes,
    DaemonSet: daemonSets,
    ControllerRevision: daemonSets * REVISIONS,
    Pod: daemonSets * nodes + otherPods,
  };
  const nodeText = JSON.stringify(nodeOf());
  const daemonTexts = range(daemonSets).map((set) => JSON.stringify(podOf('DaemonSet', set)));
  const otherText = JSON.stringify(podOf('ReplicaSet', 0));
  const fill = (text: string, words: Words): string =>
    text.replaceAll(MARKS, (mark, word: string) => words[word] ?? mark);
  const first = {
    Node: 0,
    DaemonSet: nodes,
    ControllerRevision: nodes + daemonSets,
    Pod: nodes * 2,
  };
  const wordsOf = (kind: WatchedKind, index: number): Record<string, string> => ({
    uid: uidOf(kind, index),
    version: String(FIRST_VERSION + first[kind] + index * 2),
    at: new Date(STARTED_MS + index * 7_000).toISOString().replace(/\.\d+Z$/, 'Z'),
    ip: `10.${String((index >> 14) & 255)}.${String((index >> 6) & 255)}.${String(index & 63)}`,
  });
  const textOf: LargeCluster['textOf'] = (kind, index, said = LISTED) => {
    const words = wordsOf(kind, index);
    switch (kind) {
      case 'Node': {
        const { heartbeat, ring, version } = said;
        if (version > 0) words['version'] = String(version);
        return fill(nodeText, { ...words, name: nodeNameOf(index), heartbeat, ring });
      }
      case 'DaemonSet':
        return fill(JSON.stringify(daemonSetOf(index, nodes)), words);
      case 'ControllerRevision':
        return fill(JSON.stringify(revisionOf(index)), words);
      case 'Pod': {
        const isDaemon = index < daemonSets * nodes;
        const at = isDaemon ? index : index - daemonSets * nodes;
        const set = Math.floor(at / (isDaemon ? nodes : REPLICAS));
        const text = isDaemon ? (daemonTexts[set] ?? '') : otherText;
        const suffix = (at * 2_654_435 + 60_466_176).toString(36).slice(-5);
        const owner = isDaemon ? daemonNameOf(set) : `service-${String(set)}-5d4f8c7b9`;
        const name = `${owner}-${suffix}`;
        return fill(text, { ...words, owner, name, node: nodeNameOf(at % nodes) });
      }
    }
  };
  return { counts, version: FIRST_VERSION + first.Pod + counts.Pod * 2, textOf };
}
