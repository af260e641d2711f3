/**
 * Lists of resources by name, as requests, limits and capacity have them: `{cpu: 100m, memory: 64Mi}`.
 *
 * Assumes that the schema has let them through, so that every amount is a canonical quantity; what is none, or absent,
 * counts as zero. A list that needs no rounding comes back as the very same object. Which names are allowed is
 * resources-validation's.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  roundUpToMilli,
  ZERO_QUANTITY,
  type Quantity,
} from '../../objects/quantity.ts';

/** The list with each amount rounded up to thousandths, as defaults do; the same list when all are. */
export function roundUpResourceList(list: JsonObject): JsonObject {
  let result: Record<string, string> | undefined;
  for (const name in list) {
    const text = list[name];
    // Only canonical texts get here: finer than thousandths ends in `n` or `u`.
    if (typeof text !== 'string' || !/[nu]$|[.e]/i.test(text)) continue;
    const rounded = formatQuantity(roundUpToMilli(quantityOf(text)));
    if (rounded === text) continue;
    result ??= { ...(list as Readonly<Record<string, string>>) };
    result[name] = rounded;
  }
  return result ?? list;
}

/** An amount by name; zero when it is not there. */
export function quantityAt(list: JsonObject, name: string): Quantity {
  const text = list[name];
  return typeof text === 'string' ? quantityOf(text) : ZERO_QUANTITY;
}

/** An amount that the schema has let through; zero for anything else. */
export function quantityOf(text: string): Quantity {
  return parseQuantity(text) ?? ZERO_QUANTITY;
}

/** Is the amount of this name there and above zero? */
export function isAboveZero(list: JsonObject, name: string): boolean {
  return compareQuantities(quantityAt(list, name), ZERO_QUANTITY) > 0;
}
