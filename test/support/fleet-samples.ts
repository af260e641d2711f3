/**
 * FleetDaemonSets and clusters for tests: small ones that are valid, changed by whoever needs something else.
 */
import assert from 'node:assert/strict';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { createFleetReader } from '../../src/adapters/policy/fleet/fleet-reader.ts';
import type { ClusterFacts } from '../../src/core/fleet/cluster-facts.ts';
import type { FleetDaemonSet } from '../../src/core/fleet/fleet-daemon-set.ts';
import { clusterId, nodeName, resourceVersion, uid } from '../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../src/core/model/projections.ts';

/** The manifest of a small agent. */
export function manifestOf(
  changes: JsonObject = {},
  image = 'registry.example/agent:1',
): JsonObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: {
          containers: [{ name: 'agent', image, env: [{ name: 'TOKEN', value: 'hunter2' }] }],
          ...changes,
        },
      },
    },
  };
}

/** The document of a FleetDaemonSet that is placed everywhere. */
export function fleetDocument(spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'FleetDaemonSet',
    metadata: { namespace: 'monitoring', name: 'agent' },
    spec: { template: manifestOf(), placement: { all: true }, ...spec },
  };
}

/** The FleetDaemonSet of such a document. */
export function fleetOf(spec: JsonObject = {}): FleetDaemonSet {
  const reading = createFleetReader().readDocument(fleetDocument(spec));
  assert.equal(reading.kind, 'fleet', JSON.stringify(reading));
  return reading.fleet;
}

/** When the clusters below were heard. */
export const NOW_MS = Date.UTC(2026, 10, 25);

/** Ready nodes without labels. */
export function nodesOf(count: number): readonly NodeProjection[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'Node',
    name: nodeName(`n${String(index)}`),
    uid: uid(`uid-${String(index)}`),
    resourceVersion: resourceVersion('1'),
    labels: {},
    taints: [],
    unschedulable: false,
    isReady: true,
    isTerminating: false,
  }));
}

/** A cluster in takeover that was just heard, with two nodes and without the DaemonSet. */
export function factsOf(id: string, changes: Partial<ClusterFacts> = {}): ClusterFacts {
  return {
    id: clusterId(id),
    labels: {},
    mode: 'takeover',
    isFrozen: false,
    seen: { heardAtMs: NOW_MS, nodes: nodesOf(2), daemonSet: null },
    ...changes,
  };
}

/** A manifest as a cluster shows it. */
export function liveOf(manifest: JsonObject, desiredNodes = 2): DaemonSetObject {
  const metadata = { namespace: 'monitoring', name: 'agent', uid: 'u', resourceVersion: '7' };
  const { metadata: given = {}, ...rest } = manifest;
  const status = { desiredNumberScheduled: desiredNodes };
  // As an API server sends it: what it is made of was judged before.
  return { ...rest, metadata: { ...(given as JsonObject), ...metadata }, status } as never;
}
