/** A map of three clusters, small enough to be read: one well, one with a failure, one of which nothing is heard. */
import type { MapCluster, NodeMap } from '../../../src/page/model/documents.ts';

const CLUSTERS: readonly MapCluster[] = [
  {
    id: 'prod-eu',
    state: 'Well',
    isKnown: true,
    labels: { stage: 'prod', region: 'eu-west-1' },
    names: ['eu-1', 'eu-2', 'eu-3'],
    reason: [0, 0, 2],
    release: [0, 1, -1],
    daemonSet: [0, 0, 1],
  },
  {
    id: 'prod-us',
    state: 'Lacking',
    isKnown: true,
    labels: { stage: 'prod', region: 'us-east-1' },
    names: ['us-1', 'us-2'],
    reason: [1, 0],
    release: [1, 0],
    daemonSet: [1, 0],
  },
  {
    id: 'test-ap',
    state: 'Silent',
    isKnown: false,
    unknown: 'nothing was heard of its watcher for 12 min',
    labels: { stage: 'test' },
    names: ['ap-1'],
    reason: [0],
    release: [0],
    daemonSet: [0],
  },
];

/** The map. */
export const SMALL_MAP: NodeMap = {
  atMs: 1_000,
  reasons: ['Running', 'ImagePullBackOff', 'NodeSelectorMismatch'],
  releases: ['5d8f7c9b6', '7bb4d9f44'],
  daemonSets: ['ops/agent', 'net/cilium'],
  clusters: CLUSTERS,
};
