/**
 * The status of a custom resource and of a DaemonSet as kstatus computes it, by its published rules (kubernetes-sigs/cli-utils,
 * pkg/kstatus): what Flux, `kubectl-apply` of cli-utils and others wait for.
 *
 * In this order: being deleted; a status of an older generation; Reconciling; Stalled; Ready, or the counts of a DaemonSet.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

export type KStatus = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

/** Computes it. */
export function kstatusOf(object: JsonObject): KStatus {
  const { metadata, status } = object;
  if (jsonMember(metadata, 'deletionTimestamp') !== undefined) return 'Terminating';
  const observed = jsonMember(status, 'observedGeneration');
  const generation = jsonMember(metadata, 'generation');
  if (typeof observed === 'number' && observed !== generation) return 'InProgress';
  const conditions = jsonItems(jsonMember(status, 'conditions')).filter(isJsonObject);
  for (const condition of conditions) {
    if (condition['status'] !== 'True') continue;
    if (condition['type'] === 'Reconciling') return 'InProgress';
    if (condition['type'] === 'Stalled') return 'Failed';
  }
  if (object['kind'] === 'DaemonSet') return hasAllPods(status) ? 'Current' : 'InProgress';
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready['status'] === 'True' ? 'Current' : 'InProgress';
}

/** Whatever the update strategy is: as many scheduled, updated, available and ready as desired. */
function hasAllPods(status: Json | undefined): boolean {
  const countOf = (field: string, absent: number): number =>
    Number(jsonMember(status, field) ?? absent);
  const desired = countOf('desiredNumberScheduled', -1);
  const fields = ['currentNumberScheduled', 'updatedNumberScheduled', 'numberAvailable'];
  const counts = [...fields, 'numberReady'].map((field) => countOf(field, 0));
  return desired >= 0 && counts.every((count) => count >= desired);
}
