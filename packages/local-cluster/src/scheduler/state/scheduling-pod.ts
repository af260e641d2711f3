/**
 * A pod as the scheduler's filters read it: everything that depends on the pod alone, computed once.
 *
 * Filters are then a few comparisons for each node. The affinity is Rollcall's own reading of it (src/core), so that
 * placement and scheduling cannot disagree. Nothing is validated: the API server did.
 */
import type { Toleration } from '@rollcall/base/objects.ts';
import type { AffinityMatcher } from '@rollcall/base/node-affinity.ts';
import { compileNodeAffinity } from '@rollcall/base/node-affinity.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { hostPorts, podRequests } from '../../node-agent/shared/pod-resources.ts';
import type { Amounts, HostPort } from '../../node-agent/shared/pod-resources.ts';
import { keyOf, viewPod } from '../../controllers/shared/object-views.ts';
import type { PodObject } from '../../node-agent/shared/pod-object.ts';
import { pinnedNodeNames } from './pinned-node-names.ts';

/** What a pod takes on a node. */
export interface PodFootprint {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly requests: Amounts;
  readonly ports: readonly HostPort[];
}

/** What placement of a pod depends on. */
export interface SchedulingPod extends PodFootprint {
  readonly tolerations: readonly Toleration[];
  readonly nodeSelector: readonly (readonly [label: string, value: string])[];
  /** Undefined where the required affinity matches. */
  readonly mismatchOf: AffinityMatcher;
  /** The only nodes that the required affinity can match, by name; undefined: any. */
  readonly pinnedTo: ReadonlySet<string> | undefined;
}

/** What a pod takes, bound or not. */
export function footprintOf(object: ApiObject): PodFootprint {
  const { spec } = object as PodObject;
  return {
    key: keyOf(object),
    uid: object.metadata.uid,
    requests: podRequests(spec),
    ports: hostPorts(spec),
  };
}

/** Prepares a pod for the filters. */
export function prepareSchedulingPod(object: ApiObject): SchedulingPod {
  const { spec } = viewPod(object);
  return {
    ...footprintOf(object),
    tolerations: spec.tolerations ?? [],
    nodeSelector: Object.entries(spec.nodeSelector ?? {}),
    mismatchOf: compileNodeAffinity(spec),
    pinnedTo: pinnedNodeNames(spec),
  };
}
