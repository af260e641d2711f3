/**
 * A status as a JSON Patch over the DaemonSet as it was seen (ADR 0031; S4, S7).
 *
 * One request instead of a read and a write: the API server compares what the counts rest on, and changes the counters,
 * in one step. The version says that nothing changed since; UID and both generations are compared beside it, because an
 * etcd that was restored gives versions out again: then counts may be of the lost history until the next look, but the
 * generation cannot lead. Members of others are not touched. A notice of a pause is taken away by a PUT only.
 */
import type { JsonPatchOperation, UpdateStatusEffect } from '../model/effects.ts';
import { isResourceVersion } from '../model/identifiers.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { isPaused } from './pause-notice.ts';
import { OWN_MEMBERS } from './status.ts';

/** The patch that puts what is ours of `next` there; undefined: only a whole write can do that. */
export function statusPatch(
  seen: DaemonSetObject,
  next: DaemonSetStatus,
): readonly JsonPatchOperation[] | undefined {
  const { uid, resourceVersion, generation } = seen.metadata;
  const observedGeneration = seen.status?.observedGeneration;
  if (!isResourceVersion(resourceVersion) || isPaused(seen.status)) return undefined;
  if (generation === undefined || observedGeneration === undefined) return undefined;
  const changed = OWN_MEMBERS.filter((member) => next[member] !== seen.status?.[member]);
  const adds = changed.flatMap((member): readonly JsonPatchOperation[] => {
    const value = next[member];
    return value === undefined ? [] : [{ op: 'add', path: `/status/${member}`, value }];
  });
  if (adds.length === 0) return undefined;
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'test', path: '/metadata/generation', value: generation },
    { op: 'test', path: '/status/observedGeneration', value: observedGeneration },
    ...adds,
  ];
}

/** The patch's demand on that path; undefined: none. */
export function testedValue(patch: readonly JsonPatchOperation[], path: string): unknown {
  return patch.find((operation) => operation.op === 'test' && operation.path === path)?.value;
}

/** True of the body of a status write that is a patch. */
export function isPatch(body: UpdateStatusEffect['body']): body is readonly JsonPatchOperation[] {
  return Array.isArray(body);
}
