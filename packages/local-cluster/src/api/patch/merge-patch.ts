/** JSON Merge Patch (RFC 7386): null removes, objects merge, everything else replaces. Shares what does not change. */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** Applies a merge patch; the target's unchanged parts are shared with the result. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const base: JsonObject = isJsonObject(target) ? target : {};
  const changes = Object.entries(patch);
  const merged = new Map<string, Json | undefined>(Object.entries(base));
  for (const [key, value] of changes) {
    if (value === undefined) continue;
    if (value === null) merged.delete(key);
    else merged.set(key, applyMergePatch(merged.get(key), value));
  }
  // fromEntries defines own members whatever they are called, `__proto__` included.
  return Object.fromEntries(merged);
}
