/**
 * Who else wrote a DaemonSet's status, by metadata.managedFields: evidence that comes with every live read.
 *
 * An entry counts that another manager than ours made by an update of the subresource `status`, that holds a
 * counter or observedGeneration, and that is younger than the takeover: both times are the API server's own.
 *
 * Not detected: a rival that writes an equal status, whose counters we have written over, that acts on pods only,
 * shares our manager's name, or writes within the second of entering takeover. The sentinel sees the built-in loop
 * in all these.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { OWN_MEMBERS } from './status.ts';

/**
 * How kubectl calls itself (kubectl-patch, kubectl-edit …): a person, not a loop. To stop the whole
 * cluster for one hand-made status, which the next run corrects, would be the greater harm.
 */
const PERSON_PATTERN = /^kubectl/;

/** Under which manager the API server notes our writes: the user agent of the functions. */
const OWN_MANAGER = 'rollcall';

/** What gives another writer away, in words; undefined when nothing does. */
export function findForeignStatusWrite(
  object: KubernetesObject,
  sinceMs: number | undefined,
): string | undefined {
  if (sinceMs === undefined) return undefined;
  const { namespace = '', name } = object.metadata;
  const { managedFields } = object.metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields)) return undefined;
  for (const entry of managedFields as readonly Json[]) {
    const manager = foreignWriter(entry, sinceMs);
    if (manager !== undefined) {
      return `${manager} wrote the status of DaemonSet ${namespace}/${name} after takeover`;
    }
  }
  return undefined;
}

function foreignWriter(entry: Json, sinceMs: number): string | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { manager, operation, subresource, time, fieldsV1 } = entry;
  if (subresource !== 'status' || operation !== 'Update') return undefined;
  if (typeof manager !== 'string' || manager === OWN_MANAGER) return undefined;
  if (PERSON_PATTERN.test(manager)) return undefined;
  const isLater = typeof time === 'string' && Date.parse(time) > sinceMs;
  return isLater && holdsCounter(fieldsV1) ? manager : undefined;
}

function holdsCounter(fields: Json | undefined): boolean {
  const status = isJsonObject(fields) ? fields['f:status'] : undefined;
  if (!isJsonObject(status)) return false;
  return OWN_MEMBERS.some((field) => status[`f:${field}`] !== undefined);
}
