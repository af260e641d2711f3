/**
 * Tombstones of a slice: an attribute of their own beside its body, which is a list for good.
 *
 * A rollout leaves a tombstone for each pod of a slice, so they are stored as rows, without their members' names.
 */
import type { NodeName, Uid } from '../../core/model/identifiers.ts';
import type { Tombstone } from '../../core/model/projections.ts';
import { decodeBody, encodeList } from './item-codec.ts';
import type { ItemKey } from './item-keys.ts';

type Row = readonly [
  name: string,
  uid: Uid,
  node: NodeName,
  revision: string | null,
  createdAtMs: number,
  goneAtMs: number,
];

/** What a list was encoded to, for as long as somebody holds it: most writes of a slice bury nobody. */
const encodedLists = new WeakMap<readonly Tombstone[], Uint8Array>();

/** The attribute for an item; nothing at all where there are no tombstones. The list is never changed in place. */
export function encodeTombstones(
  key: ItemKey,
  gone: readonly Tombstone[],
): { readonly gone?: Uint8Array } {
  if (gone.length === 0) return {};
  // Stryker disable next-line LogicalOperator: what is remembered is what would be made again
  const encoded = encodedLists.get(gone) ?? encodeList(key, gone, rowOf);
  // Stryker disable next-line CallExpression: what is not remembered is made again
  encodedLists.set(gone, encoded);
  return { gone: encoded };
}

function rowOf({ name, uid, node, revision, createdAtMs, goneAtMs }: Tombstone): Row {
  return [name, uid, node, revision ?? null, createdAtMs, goneAtMs];
}

/** What an item remembers. */
export function decodeTombstones(key: ItemKey, attribute: unknown): readonly Tombstone[] {
  if (attribute === undefined) return [];
  const rows = decodeBody(key, attribute) as readonly Row[];
  return rows.map(([name, uid, node, revision, createdAtMs, goneAtMs]) => ({
    name,
    uid,
    node,
    ...(revision === null ? {} : { revision }),
    createdAtMs,
    goneAtMs,
  }));
}
