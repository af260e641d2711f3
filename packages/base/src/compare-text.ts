/**
 * Text in the order of its UTF-16 units: the same on every machine, whatever its locale.
 */

/** Negative, zero or positive as `left` sorts before, with or after `right`. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
