/**
 * How large an item is, and what reading and writing it costs, as DynamoDB documents both.
 *
 * An attribute is its name in UTF-8 and its value: text by its bytes, a number by half its digits and one, a list or map
 * by what it holds, three bytes, and one for each element. Pure; of items as the document client takes them.
 */

/** Attributes by name. */
export type Attributes = Readonly<Record<string, unknown>>;

const READ_BYTES = 4096;
const WRITE_BYTES = 1024;
const COLLECTION_BYTES = 3;

/** Bytes of an item; none for one that is missing. */
export function sizeOfItem(item: Attributes | undefined): number {
  return Object.entries(item ?? {})
    .filter(([, value]) => value !== undefined)
    .reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + sizeOfValue(value), 0);
}

/** Units of a read of so many bytes, one that is strongly consistent or half of it; something missing counts as well. */
export function readUnits(bytes: number, isConsistent: boolean): number {
  const units = Math.max(1, Math.ceil(bytes / READ_BYTES));
  return isConsistent ? units : units / 2;
}

/** Units of a write, whether or not it was made: by the larger of what stood there and what would stand there. */
export function writeUnits(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / WRITE_BYTES));
}

function sizeOfValue(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (value instanceof Uint8Array) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 1;
  const parts = Array.isArray(value)
    ? value.map(sizeOfValue)
    : Object.entries(value).map(([name, part]) => Buffer.byteLength(name) + sizeOfValue(part));
  return parts.reduce((sum, part) => sum + part + 1, COLLECTION_BYTES);
}
