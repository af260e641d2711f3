/**
 * Lists of resources by name, as requests, limits and capacity have them: `{cpu: 100m, memory: 64Mi}`.
 *
 * The schema has let them through, so every amount is a canonical quantity; what is none, or absent, counts as zero.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  compareQuantities,
  parseQuantity,
  ZERO_QUANTITY,
  type Quantity,
} from '../../objects/quantity.ts';

/** An amount by name; zero when it is not there. */
export function quantityAt(list: JsonObject, name: string): Quantity {
  const text = list[name];
  return (typeof text === 'string' ? parseQuantity(text) : undefined) ?? ZERO_QUANTITY;
}

/** Is the amount of this name there and above zero? */
export function isAboveZero(list: JsonObject, name: string): boolean {
  return compareQuantities(quantityAt(list, name), ZERO_QUANTITY) > 0;
}
