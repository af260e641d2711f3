/**
 * The pod that a DaemonSet's template makes for one node (spec 2.8).
 *
 * The template is kept raw, so that fields we do not know survive. What is the same for all nodes is
 * prepared once per run; a pod then shares all of it but its name and its affinity. spec.nodeName is
 * not set: the scheduler binds, led by the affinity.
 *
 * Differs from upstream: metadata.name instead of generateName, because the name is the fence (S1).
 */
import type { NodeName } from '../model/identifiers.ts';
import type { FormerTemplate } from '../model/staged-progress.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { withAutomaticTolerations } from '../placement/placement.ts';
import { ownerReferenceOf } from './owner.ts';
import {
  REVISION_HASH_LABEL,
  TEMPLATE_GENERATION_LABEL,
  templateGenerationOf,
} from './pod-facts.ts';

/** A template with everything that does not depend on the node (spec 2.8 step 3). */
export interface PreparedTemplate {
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
}

/** False for a template without labels: such pods are refused (spec 2.8). */
export function hasTemplateLabels(daemonSet: DaemonSetObject): boolean {
  return Object.keys(daemonSet.spec.template.metadata?.labels ?? {}).length > 0;
}

/** Prepares a template once per run. */
export function prepareTemplate(
  daemonSet: DaemonSetObject,
  currentHash: string | undefined,
): PreparedTemplate {
  return prepare(daemonSet, currentHash, templateGenerationOf(daemonSet));
}

/**
 * The same of a former revision. Its template generation is its own: with the present one its pods would count as
 * updated (spec 2.9). One that was never noted is 0, which no DaemonSet has.
 */
export function prepareFormer(
  daemonSet: DaemonSetObject,
  { hash, template, generation = '0', labels }: FormerTemplate,
): PreparedTemplate {
  const spec = { ...daemonSet.spec, template };
  const { metadata, ...rest } = prepare({ ...daemonSet, spec }, hash, generation);
  const own = isJsonObject(metadata['labels']) ? metadata['labels'] : {};
  return { ...rest, metadata: { ...metadata, labels: { ...own, ...labels } } };
}

function prepare(
  daemonSet: DaemonSetObject,
  currentHash: string | undefined,
  generation: string | undefined,
): PreparedTemplate {
  const { metadata, spec } = daemonSet.spec.template;
  const hash = currentHash === '' ? undefined : currentHash;
  const labels = {
    ...metadata?.labels,
    ...(generation === undefined ? {} : { [TEMPLATE_GENERATION_LABEL]: generation }),
    ...(hash === undefined ? {} : { [REVISION_HASH_LABEL]: hash }),
  };
  const { annotations, finalizers } = metadata ?? {};
  return {
    metadata: {
      ...(daemonSet.metadata.namespace === undefined
        ? {}
        : { namespace: daemonSet.metadata.namespace }),
      labels,
      ...(isFilled(annotations) ? { annotations: { ...annotations } } : {}),
      ...(isFilled(finalizers) ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [ownerReferenceOf(daemonSet)],
    },
    spec: {
      ...rawJson(spec),
      tolerations: withAutomaticTolerations(spec ?? {}).map((toleration) => ({ ...toleration })),
    },
  };
}

/** The pod of one node, from a prepared template. */
export function podFromTemplate(
  template: PreparedTemplate,
  at: { readonly node: NodeName; readonly name: string },
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: at.name, ...template.metadata },
    spec: { ...template.spec, affinity: pinToNode(template.spec['affinity'], at.node) },
  };
}

/** Replaces the required node affinity by the one node; all other affinity stays (spec 2.8). */
function pinToNode(affinity: Json | undefined, node: NodeName): JsonObject {
  const kept = isJsonObject(affinity) ? affinity : {};
  const nodeAffinity = isJsonObject(kept['nodeAffinity']) ? kept['nodeAffinity'] : {};
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  return {
    ...kept,
    nodeAffinity: {
      ...nodeAffinity,
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
    },
  };
}

function isFilled<T extends object>(value: T | undefined): value is T {
  return value !== undefined && Object.keys(value).length > 0;
}

/** A typed view of raw JSON is that raw JSON again. */
function rawJson(value: object | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
