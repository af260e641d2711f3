/**
 * The status of a custom resource as kstatus computes it, by its published rules (kubernetes-sigs/cli-utils, pkg/kstatus/README.md): what
 * Flux, `kubectl-apply` of cli-utils and others wait for.
 *
 * In this order: being deleted; a status of an older generation; Reconciling; Stalled; Ready. Without any of these it is current.
 */
import { isJsonObject, jsonItems, jsonMember, type JsonObject } from '@rollcall/base/json.ts';

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
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready === undefined || ready['status'] === 'True' ? 'Current' : 'InProgress';
}
