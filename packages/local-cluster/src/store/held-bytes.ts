/**
 * How much memory a change keeps alive, about: what it does not share with the state before it. A deletion keeps the
 * whole object, which nothing else holds any more.
 *
 * Parts that both states share cost no look, so that a write of one field costs the path to it.
 */
import { isJsonObject, jsonItems } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { StoreChange } from './store.ts';

/** An object, a list, or the head of a text. */
const VALUE_BYTES = 24;
/** A member or item beside its value. */
const SLOT_BYTES = 8;

/** Bytes that are free once this change and those before it are forgotten. */
export function heldBytes({ type, object, previous }: StoreChange): number {
  return bytesBeside(object, type === 'DELETED' ? undefined : previous);
}

function bytesBeside(value: Json | undefined, known: Json | undefined): number {
  if (value === known || value === undefined) return 0;
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = VALUE_BYTES;
  if (isJsonObject(value)) {
    const before = isJsonObject(known) ? known : {};
    for (const [name, member] of Object.entries(value)) {
      bytes += SLOT_BYTES + bytesBeside(member, before[name]);
    }
    return bytes;
  }
  const before = jsonItems(known);
  for (const [index, item] of value.entries()) {
    bytes += SLOT_BYTES + bytesBeside(item, before[index]);
  }
  return bytes;
}
