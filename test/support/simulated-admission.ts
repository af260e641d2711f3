/**
 * What infra/admission's list of DaemonSets decides on the functions' creates, in a simulated cluster (ADR 0063).
 *
 * Of the rules those that a rollout can meet: a pod is its DaemonSet's present template, or the copy that its label names;
 * a copy is the present template of an owner that exists. Only containers are compared: the whole comparison is held to a
 * real API server by test/conformance/rights.
 */
import { canonicalJson, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Effect, RefusalCode } from '../../src/core/model/effects.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';

/** The rules of one cluster, for its `hooks.admit`. */
export function admissionOf(
  cluster: SimulatedCluster,
): (effect: Effect) => RefusalCode | undefined {
  return (effect) => {
    switch (effect.kind) {
      case 'create-pod':
        return mayCreatePod(cluster, effect) ? undefined : 'admission';
      case 'create-copy':
      case 'replace-copy':
        return mayWriteCopy(cluster, effect) ? undefined : 'admission';
      default:
        return undefined;
    }
  };
}

interface Written {
  readonly namespace: string;
  readonly name: string;
  readonly body: JsonObject;
}

function mayCreatePod(cluster: SimulatedCluster, { body, namespace }: Written): boolean {
  const owner = ownerOf(cluster, body);
  if (owner === undefined) return false;
  const marker = jsonMember(jsonMember(body['metadata'], 'labels'), 'rollcall.dev/revision');
  const containers = containersOf(body['spec']);
  if (marker === undefined) return containers === containersOf(templateSpec(owner['spec']));
  if (typeof marker !== 'string') return false;
  const name = `${owner.metadata.name}-rollcall-${marker}`;
  const copy = cluster.find('podtemplates', name, namespace);
  if (copy?.metadata.ownerReferences?.[0]?.uid !== owner.metadata.uid) return false;
  return containers === containersOf(templateSpec(copy));
}

function mayWriteCopy(cluster: SimulatedCluster, { body }: Written): boolean {
  const owner = ownerOf(cluster, body);
  if (owner === undefined) return false;
  return containersOf(templateSpec(body)) === containersOf(templateSpec(owner['spec']));
}

/** The DaemonSet that exists under the UID of the only owner, and is not being deleted. */
function ownerOf(cluster: SimulatedCluster, body: JsonObject): KubernetesObject | undefined {
  const { ownerReferences = [] } = body['metadata'] as unknown as KubernetesObject['metadata']; // raw JSON
  const [reference] = ownerReferences;
  const found = cluster.list('daemonsets').find(({ metadata }) => metadata.uid === reference?.uid);
  return found?.metadata.deletionTimestamp === undefined ? found : undefined;
}

function templateSpec(holder: unknown): Json | undefined {
  return jsonMember(jsonMember(holder as Json, 'template'), 'spec'); // raw JSON of an object
}

function containersOf(spec: Json | undefined): string {
  return canonicalJson(jsonMember(spec, 'containers') ?? null);
}
