/**
 * JSON text as Go's encoder writes it: keys sorted, `<`, `>`, `&`, U+2028 and U+2029 escaped.
 *
 * The API server keeps a ControllerRevision's `data` byte for byte and compares it byte for byte when
 * something patches the object: the garbage collector, when it orphans. Text that Go would write
 * differently comes back changed from that round trip, and the patch is refused because `data` is
 * immutable: `kubectl delete --cascade=orphan` would hang for ever. Measured on 1.36.
 */
import { canonicalJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Encodes a value so that a round trip through Go leaves its bytes as they are. */
export function goJson(value: Json): string {
  // These characters occur inside strings only, so escaping them in the whole text is enough.
  return canonicalJson(value).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
