/**
 * Plans what a FleetDaemonSet would do in one cluster: nothing, make it, change it, and on how many
 * nodes. Pure. Nodes are counted for the rendered manifest, not for what runs now. What the view
 * cannot tell is left out.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeProjection } from '../model/projections.ts';
import { decidePlacement, preparePlacement } from '../placement/placement.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import { compareManifest, type FieldDifference } from './compare-manifest.ts';
import type { FleetManifest } from './fleet-daemon-set.ts';
import type { Rendering } from './render-fleet.ts';

/**
 * The change of a cluster's DaemonSet. `update`: pods are replaced; `adjust`: what differs is outside of the pod
 * template, which all pods are made from already; `unknown`: its view does not tell what is there.
 */
type ClusterChange = 'create' | 'update' | 'adjust' | 'none' | 'unknown';

/** Why Rollcall lets a cluster be, whatever the fleet says. */
export type Untouched = 'observe' | 'frozen' | 'conflict';

/** One container's image, where it differs. */
export interface ImageChange {
  readonly container: string;
  readonly from?: string;
  readonly to?: string;
}

/** One cluster of a plan. */
export interface PlannedCluster {
  readonly id: string;
  readonly mode: ClusterFacts['mode'];
  readonly change: ClusterChange;
  /** Of the rendered pod template. */
  readonly hash: string;
  readonly overrides: readonly string[];
  /** Nodes that would run its pod; absent: the view does not tell. */
  readonly nodes?: number;
  /** Nodes of these whose pod is made, or is of another template than the one that is given. */
  readonly changedNodes: number;
  /** Nodes that should run one now, as the status of what is there says. */
  readonly nodesNow?: number;
  readonly images: readonly ImageChange[];
  readonly differences: readonly FieldDifference[];
  /** Absent: it was never heard. */
  readonly heardAtMs?: number;
}

/** Why Rollcall does not change this cluster; undefined: it does. */
export function whyUntouched({
  mode,
  isFrozen,
  rival,
}: Pick<ClusterFacts, 'mode' | 'isFrozen' | 'rival'>): Untouched | undefined {
  if (mode === 'observe') return 'observe';
  if (isFrozen) return 'frozen';
  return rival === undefined ? undefined : 'conflict';
}

export function planCluster(
  facts: ClusterFacts,
  { manifest, hash, overrides }: Extract<Rendering, { readonly kind: 'rendered' }>,
): PlannedCluster {
  const { id, mode, seen } = facts;
  const daemonSet = seen?.daemonSet;
  const live = asJson(daemonSet);
  const differences = live === undefined ? [] : compareManifest(manifest, live);
  const nodesNow = daemonSet?.status?.desiredNumberScheduled;
  const change = changeOf(daemonSet, differences);
  const nodes = seen?.nodes && countNodes(manifest, seen.nodes);
  return {
    id,
    mode,
    change,
    hash,
    overrides,
    ...defined({ nodes }),
    changedNodes: changedNodesOf(change, nodes ?? 0, olderPods(daemonSet, differences)),
    ...(nodesNow === undefined ? {} : { nodesNow }),
    images: daemonSet === undefined ? [] : compareImages(manifest, live ?? {}),
    differences,
    ...(seen === undefined ? {} : { heardAtMs: seen.heardAtMs }),
  };
}

/** Where pods are made from; other fields of a DaemonSet make no revision. */
const TEMPLATE_FIELD = 'spec.template';

function changeOf(
  daemonSet: DaemonSetObject | null | undefined,
  differences: readonly FieldDifference[],
): ClusterChange {
  if (daemonSet === undefined) return 'unknown';
  if (daemonSet === null) return 'create';
  if (differences.length === 0) return 'none';
  return isOtherTemplate(differences) || (olderPods(daemonSet, differences) ?? 0) > 0
    ? 'update'
    : 'adjust';
}

function isOtherTemplate(differences: readonly FieldDifference[]): boolean {
  return differences.some(({ field }) => field.startsWith(TEMPLATE_FIELD));
}

/** Pods of a template before, where the one that is there is the one that is given; undefined: it is another, or not told. */
function olderPods(
  daemonSet: DaemonSetObject | null | undefined,
  differences: readonly FieldDifference[],
): number | undefined {
  const { metadata, status } = daemonSet ?? {};
  const {
    observedGeneration,
    desiredNumberScheduled = 0,
    updatedNumberScheduled = 0,
  } = status ?? {};
  const isTold = observedGeneration !== undefined && observedGeneration === metadata?.generation;
  if (!isTold || isOtherTemplate(differences)) return undefined;
  return Math.max(0, desiredNumberScheduled - updatedNumberScheduled);
}

function changedNodesOf(change: ClusterChange, nodes: number, older: number | undefined): number {
  if (change !== 'create' && change !== 'update') return 0;
  return change === 'create' ? nodes : Math.min(nodes, older ?? nodes);
}

function countNodes(manifest: FleetManifest, nodes: readonly NodeProjection[]): number {
  const { metadata, spec } = manifest;
  // Placement reads the template alone; the rest is what makes it an object.
  const daemonSet = { metadata: { ...metadata, uid: '', resourceVersion: '' }, spec };
  const prepared = preparePlacement(daemonSet);
  return nodes.filter((node) => decidePlacement(prepared, node).placement === 'run').length;
}

function compareImages(wanted: JsonObject, live: JsonObject): readonly ImageChange[] {
  const [to, from] = [imagesOf(wanted), imagesOf(live)];
  return [...new Set([...to.keys(), ...from.keys()])]
    .filter((container) => to.get(container) !== from.get(container))
    .map((container): ImageChange => {
      const [before, after] = [from.get(container), to.get(container)];
      return {
        container,
        ...(before === undefined ? {} : { from: before }),
        ...(after === undefined ? {} : { to: after }),
      };
    });
}

/** Images by the names of their containers, of which two never are the same. */
export function imagesOf(manifest: JsonObject): ReadonlyMap<string, string> {
  const podSpec = jsonMember(jsonMember(manifest['spec'], 'template'), 'spec');
  const containers = [
    ...jsonItems(jsonMember(podSpec, 'initContainers')),
    ...jsonItems(jsonMember(podSpec, 'containers')),
  ];
  return new Map(
    containers.map((one): [string, string] => [textOf(one, 'name'), textOf(one, 'image')]),
  );
}

function textOf(value: Json, name: string): string {
  const text = jsonMember(value, name);
  return typeof text === 'string' ? text : '';
}

/** A typed view of raw JSON is that raw JSON again. */
function asJson(value: object | null | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
