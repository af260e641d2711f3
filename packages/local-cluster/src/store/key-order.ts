/**
 * The order of keys in a store: that of the keys that a real API server uses in etcd, `namespace/name`, as bytes.
 *
 * The slash is part of what is compared, so `kube-system` comes before `kube`, because `-` is smaller than `/`. Lists and
 * their continue tokens follow this order.
 */

/** What names an object within its collection. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** Compares two texts by their UTF-8 bytes: negative, zero or positive. */
export function compareBytes(left: string, right: string): number {
  if (left === right) return 0;
  if (hasSurrogates(left) || hasSurrogates(right)) {
    return Buffer.compare(Buffer.from(left), Buffer.from(right));
  }
  return left < right ? -1 : 1;
}

/** Compares two objects of one collection by their keys: negative, zero or positive. */
export function compareKeys(left: ObjectKey, right: ObjectKey): number {
  return compareBytes(keyText(left), keyText(right));
}

/** The text of a key within its collection; unique, as neither namespaces nor names hold a slash. */
export function keyText(key: ObjectKey): string {
  return key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
}

/** UTF-16 and UTF-8 order differ only where surrogates are. */
function hasSurrogates(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}
