/**
 * Whether the newest write of an object went to its status, by its managedFields.
 *
 * They tell who wrote what and when, in whole seconds. Two writes of one second cannot be told apart: then, and where nobody
 * kept managedFields, the answer is no. It only saves heartbeats (session/epoch.ts): a wrong yes would make somebody who
 * waits for a mark wait for the next message.
 */
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { rawJson } from '../../core/projections/raw-fields.ts';

/** True if every write of the newest second was one of the status. */
export function isWrittenToStatus(raw: KubernetesObject): boolean {
  const fields = jsonMember(rawJson(raw)['metadata'], 'managedFields');
  if (!Array.isArray(fields)) return false;
  let newest = '';
  let isStatus = false;
  for (const entry of fields) {
    const time = isJsonObject(entry) ? entry['time'] : undefined;
    // An entry that does not say when may be the newest.
    if (!isJsonObject(entry) || typeof time !== 'string') return false;
    const isOfStatus = entry['subresource'] === 'status';
    if (time > newest) [newest, isStatus] = [time, isOfStatus];
    else if (time === newest) isStatus &&= isOfStatus;
  }
  return isStatus;
}
