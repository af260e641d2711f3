/**
 * What the status write of a simulated cluster makes of a DaemonSet: a whole object under its version, or a JSON Patch, applied
 * by the local cluster's code, which is held to the real server's.
 */
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Outcome, UpdateStatusEffect } from '../../src/core/model/effects.ts';
import { isPatch } from '../../src/core/status/status-patch.ts';

/** The status that it asks for, or how it is refused. */
export type StatusAsked =
  | { readonly kind: 'status'; readonly status: JsonObject }
  | { readonly kind: 'refused'; readonly outcome: Outcome };

export function askedStatus(
  object: KubernetesObject,
  { body }: Pick<UpdateStatusEffect, 'body'>,
): StatusAsked {
  if (isPatch(body)) {
    // raw JSON on both sides
    const patched = applyJsonPatch(object as unknown as Json, body as unknown as Json);
    const status = patched.kind === 'patched' ? statusOf(patched.value) : undefined;
    if (status !== undefined) return { kind: 'status', status };
    const message = patched.kind === 'patched' ? 'no status' : patched.message;
    return { kind: 'refused', outcome: { kind: 'refused', code: 'invalid', status: 422, message } };
  }
  const metadata = body['metadata'];
  const version = isJsonObject(metadata) ? metadata['resourceVersion'] : undefined;
  if (version !== object.metadata.resourceVersion) {
    const message = 'the object has been modified';
    return { kind: 'refused', outcome: { kind: 'conflict', message } };
  }
  return { kind: 'status', status: statusOf(body) ?? {} };
}

function statusOf(object: Json): JsonObject | undefined {
  const status = isJsonObject(object) ? object['status'] : undefined;
  return isJsonObject(status) ? status : undefined;
}
