/**
 * Placement: should a node run the DaemonSet's pod, may it keep one, or must it go (spec 2.5)?
 *
 * What depends on the template alone is prepared once per run, so that thousands of nodes cost a few
 * milliseconds. Resources, ports, pod affinity, the condition Ready and spec.unschedulable are not
 * looked at: scheduler and kubelet own those. Every reason names the label, term or taint it is about.
 */
import type { DaemonSetObject, Toleration, PodSpec, TaintEffect } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../model/projections.ts';
import type { Placement, PlacementReason } from '../model/verdict.ts';
import { labelOf } from '@rollcall/base/label-selector.ts';
import { compileNodeAffinity, type AffinityMatcher } from '@rollcall/base/node-affinity.ts';
import { findUntoleratedTaint, formatTaint } from '@rollcall/base/taints.ts';

/** A template as placement needs it: parsed once, used for every node. */
export interface PreparedPlacement {
  readonly nodeName: string | undefined;
  readonly nodeSelector: readonly (readonly [key: string, value: string])[];
  readonly mismatchOf: AffinityMatcher;
  readonly tolerations: readonly Toleration[];
}

/** Where a DaemonSet's pod belongs on one node, and why (spec 2.5). */
export interface PlacementDecision {
  readonly placement: Placement;
  readonly reason: PlacementReason;
}

/**
 * Which rules these are. A watcher tells by it which placement it named keys by, so raise it with every change of what
 * `decidePlacement` answers: until watchers follow, each node change wakes every key.
 */
export const PLACEMENT_RULES = 1;

const ELIGIBLE: PlacementDecision = { placement: 'run', reason: { code: 'Eligible' } };

/** Parses the template of a DaemonSet for `decidePlacement`. */
export function preparePlacement(daemonSet: DaemonSetObject): PreparedPlacement {
  const spec = daemonSet.spec.template.spec ?? {};
  return {
    nodeName: spec.nodeName === '' ? undefined : spec.nodeName,
    nodeSelector: Object.entries(spec.nodeSelector ?? {}),
    mismatchOf: compileNodeAffinity(spec),
    tolerations: withAutomaticTolerations(spec),
  };
}

/** Decides one node: the rules of spec 2.5 in their order. */
export function decidePlacement(
  prepared: PreparedPlacement,
  node: NodeProjection,
): PlacementDecision {
  const mismatch = findMismatch(prepared, node);
  if (mismatch !== undefined) return { placement: 'leave', reason: mismatch };
  // Stryker disable next-line ConditionalExpression: saves two searches that find nothing among no taints
  if (node.taints.length === 0) return ELIGIBLE;
  const { taints } = node;
  const { tolerations } = prepared;
  const evicting = findUntoleratedTaint({ taints, tolerations, effect: 'NoExecute' });
  if (evicting !== undefined) {
    return {
      placement: 'leave',
      reason: { code: 'TaintNotTolerated', taint: formatTaint(evicting) },
    };
  }
  const refusing = findUntoleratedTaint({ taints, tolerations, effect: 'NoSchedule' });
  if (refusing === undefined) return ELIGIBLE;
  return {
    placement: 'keep',
    reason: { code: 'TaintNotTolerated', taint: formatTaint(refusing) },
  };
}

function findMismatch(
  prepared: PreparedPlacement,
  node: NodeProjection,
): PlacementReason | undefined {
  if (prepared.nodeName !== undefined && prepared.nodeName !== node.name) {
    return { code: 'OtherNodeName', wanted: prepared.nodeName };
  }
  for (const [key, value] of prepared.nodeSelector) {
    if (labelOf(node.labels, key) !== value) {
      return { code: 'NodeSelectorMismatch', label: `${key}=${value}` };
    }
  }
  return prepared.mismatchOf(node);
}

function exists(key: string, effect: TaintEffect): Toleration {
  return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect };
}

const ALWAYS: readonly Toleration[] = [
  exists('not-ready', 'NoExecute'),
  exists('unreachable', 'NoExecute'),
  exists('disk-pressure', 'NoSchedule'),
  exists('memory-pressure', 'NoSchedule'),
  exists('pid-pressure', 'NoSchedule'),
  exists('unschedulable', 'NoSchedule'),
];

const WITH_HOST_NETWORK = exists('network-unavailable', 'NoSchedule');

/**
 * The template's tolerations with the automatic ones replaced or appended (spec 2.6). One with identical key, effect,
 * operator and value is replaced, so its tolerationSeconds is lost; everything else is kept in place.
 */
export function withAutomaticTolerations(spec: PodSpec): readonly Toleration[] {
  const automatic = spec.hostNetwork === true ? [...ALWAYS, WITH_HOST_NETWORK] : ALWAYS;
  return automatic.reduce(addOrReplace, spec.tolerations ?? []);
}

function addOrReplace(list: readonly Toleration[], added: Toleration): readonly Toleration[] {
  if (!list.some((toleration) => isSame(toleration, added))) return [...list, added];
  return list.map((toleration) => (isSame(toleration, added) ? added : toleration));
}

/** The automatic ones have no value. */
function isSame(existing: Toleration, automatic: Toleration): boolean {
  return (
    existing.key === automatic.key &&
    existing.effect === automatic.effect &&
    existing.operator === automatic.operator &&
    (existing.value ?? '') === ''
  );
}
