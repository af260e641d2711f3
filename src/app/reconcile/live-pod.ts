/**
 * What a live read of a pod says, in the terms of a projection.
 *
 * Live objects are raw JSON from an API server that we trust with its own cluster; a field of
 * another shape than documented simply counts as absent. Decides nothing.
 */
import { isJsonObject } from '../../core/model/json.ts';
import { nodeName, resourceVersion, uid } from '../../core/model/identifiers.ts';
import type { NodeName } from '../../core/model/identifiers.ts';
import type { KubernetesObject } from '../../core/model/kubernetes.ts';
import type { PodPhase, PodProjection } from '../../core/model/projections.ts';

const PHASES: readonly string[] = ['Pending', 'Running', 'Succeeded', 'Failed'];

/** A raw pod as the projection that a watcher would have made of it. */
export function projectLivePod(pod: KubernetesObject): PodProjection {
  const { metadata } = pod;
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  const { spec, status } = pod;
  const bound = readBoundNode(spec);
  const target = readTargetNode(spec);
  const phase = isJsonObject(status) ? status['phase'] : undefined;
  const ready = readReady(status);
  return {
    kind: 'Pod',
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: uid(metadata.uid),
    resourceVersion: resourceVersion(metadata.resourceVersion),
    ...(owner === undefined ? {} : { ownerUid: uid(owner.uid) }),
    labels: metadata.labels ?? {},
    ...(bound === undefined ? {} : { boundNode: bound }),
    ...(target === undefined ? {} : { targetNode: target }),
    phase: isPhase(phase) ? phase : 'Unknown',
    ...ready,
    createdAtMs: Date.parse(metadata.creationTimestamp ?? '') || 0,
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
}

function readBoundNode(spec: unknown): NodeName | undefined {
  const bound = isJsonObject(spec) ? spec['nodeName'] : undefined;
  return typeof bound === 'string' && bound !== '' ? nodeName(bound) : undefined;
}

function isPhase(value: unknown): value is PodPhase {
  return typeof value === 'string' && PHASES.includes(value);
}

function readReady(status: unknown): Pick<PodProjection, 'isReady' | 'readyChangedAtMs'> {
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  for (const item of Array.isArray(conditions) ? (conditions as readonly unknown[]) : []) {
    if (!isJsonObject(item) || item['type'] !== 'Ready') continue;
    const since = item['lastTransitionTime'];
    const changedAtMs = typeof since === 'string' ? Date.parse(since) : Number.NaN;
    const isReady = item['status'] === 'True';
    return Number.isNaN(changedAtMs) ? { isReady } : { isReady, readyChangedAtMs: changedAtMs };
  }
  return { isReady: false };
}

/** spec.nodeName, else the one node that required affinity names (spec 2.4). */
function readTargetNode(spec: unknown): NodeName | undefined {
  if (!isJsonObject(spec)) return undefined;
  const bound = readBoundNode(spec);
  if (bound !== undefined) return bound;
  for (const term of readTerms(spec)) {
    const fields = isJsonObject(term) ? term['matchFields'] : undefined;
    for (const field of Array.isArray(fields) ? (fields as readonly unknown[]) : []) {
      const target = readTarget(field);
      if (target !== undefined) return target;
    }
  }
  return undefined;
}

function readTerms(spec: unknown): readonly unknown[] {
  let value: unknown = spec;
  for (const field of [
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  ]) {
    value = isJsonObject(value) ? value[field] : undefined;
  }
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function readTarget(field: unknown): NodeName | undefined {
  if (!isJsonObject(field) || field['key'] !== 'metadata.name') return undefined;
  const values = field['values'];
  if (field['operator'] !== 'In' || !Array.isArray(values) || values.length !== 1) return undefined;
  const only: unknown = values[0];
  return typeof only === 'string' ? nodeName(only) : undefined;
}
