/**
 * Raw JSON as a strategic merge patch leaves it, whether the patch touched it or not: its members sorted.
 *
 * The real server takes the whole object apart into maps and writes raw JSON anew. A client that compares it as written, as a
 * ControllerRevision's data are, then sees a change that no client asked for: a revision whose data were not written in Go's
 * order cannot be orphaned. That trap must be here too.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Schema } from '../../schema/schema.ts';

/** The object with its raw members sorted; the same object when it has none. */
export function withSortedRaw(
  object: JsonObject,
  { schema, struct }: { readonly schema: Schema; readonly struct: string | undefined },
): JsonObject {
  if (struct === undefined) return object;
  const raw = Object.keys(object).filter((key) => schema.field(struct, key)?.shape === 'raw');
  if (raw.length === 0) return object;
  return { ...object, ...Object.fromEntries(raw.map((key) => [key, sorted(object[key] ?? null)])) };
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}
