/**
 * Tombstones of a slice: an attribute of their own beside its body, which is a list for good.
 *
 * An earlier release reads the body, leaves this out, and drops it with its next write. A rollout
 * leaves a tombstone for each pod of a slice, so they are stored as rows, without their members' names.
 */
import type { NodeName, Uid } from '../../core/model/identifiers.ts';
import type { Tombstone } from '../../core/model/tombstone.ts';
import { decodeBody, encodeBody } from './item-codec.ts';

type Row = readonly [
  name: string,
  uid: Uid,
  node: NodeName,
  revision: string | null,
  createdAtMs: number,
  goneAtMs: number,
];

/** The attribute for an item; nothing at all where there are no tombstones. */
export function encodeTombstones(
  item: string,
  gone: readonly Tombstone[],
): { readonly gone?: Uint8Array } {
  if (gone.length === 0) return {};
  const rows = gone.map((each): Row => [
    each.name,
    each.uid,
    each.node,
    each.revision ?? null,
    each.createdAtMs,
    each.goneAtMs,
  ]);
  return { gone: encodeBody(item, rows) };
}

/** What an item remembers; nothing where an earlier release wrote it. */
export function decodeTombstones(item: string, attribute: unknown): readonly Tombstone[] {
  if (attribute === undefined) return [];
  const rows = decodeBody(item, attribute) as readonly Row[];
  return rows.map(([name, uid, node, revision, createdAtMs, goneAtMs]) => ({
    name,
    uid,
    node,
    ...(revision === null ? {} : { revision }),
    createdAtMs,
    goneAtMs,
  }));
}
