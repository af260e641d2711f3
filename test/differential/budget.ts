/**
 * What a DaemonSet allows, read from the object alone, written a second time for the witness (spec 2.5, 2.9).
 * Pure; it shares no code with src/core.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import type { PodSpec } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../../src/core/model/projections.ts';
import { referencePlacement } from '../support/reference-placement.ts';

/** The budget of a DaemonSet, resolved. */
export interface Budget {
  readonly isOnDelete: boolean;
  readonly unavailableMax: number;
  readonly surgeMax: number;
}

interface Spec {
  readonly minReadySeconds?: number;
  readonly updateStrategy?: {
    readonly type?: string;
    readonly rollingUpdate?: {
      readonly maxUnavailable?: number | string;
      readonly maxSurge?: number | string;
    };
  };
  readonly template: { readonly spec: PodSpec };
}

function specOf(daemonSet: KubernetesObject): Spec {
  return daemonSet['spec'] as Spec;
}

/** Integers, or percentages of the nodes that should run a pod, rounded up. */
export function readBudget(daemonSet: KubernetesObject, desiredNodes: number): Budget {
  const { type, rollingUpdate = {} } = specOf(daemonSet).updateStrategy ?? {};
  const resolve = (value: number | string): number =>
    typeof value === 'number'
      ? value
      : Math.ceil((Number.parseInt(value, 10) * desiredNodes) / 100);
  const unavailable = resolve(rollingUpdate.maxUnavailable ?? 1);
  const surgeMax = resolve(rollingUpdate.maxSurge ?? 0);
  const isBothZero = unavailable === 0 && surgeMax === 0;
  return {
    isOnDelete: type === 'OnDelete',
    unavailableMax: isBothZero ? 1 : unavailable,
    surgeMax,
  };
}

/** Ready for at least minReadySeconds. */
export function isPodAvailable(pod: KubernetesObject, daemonSet: KubernetesObject): boolean {
  if (!readPod(pod).isReady) return false;
  const { minReadySeconds = 0 } = specOf(daemonSet);
  const status = pod['status'] as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly lastTransitionTime?: string;
    }[];
  };
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return Date.now() >= Date.parse(ready?.lastTransitionTime ?? '') + minReadySeconds * 1000;
}

/** True where the DaemonSet wants a pod on the node. */
export function isPlacedOn(daemonSet: KubernetesObject, node: KubernetesObject): boolean {
  const { taints = [] } = node['spec'] as { readonly taints?: NodeProjection['taints'] };
  // Only these three are read.
  const projection = {
    name: node.metadata.name,
    labels: node.metadata.labels ?? {},
    taints,
  } as NodeProjection;
  return referencePlacement(specOf(daemonSet).template.spec, projection) === 'run';
}
