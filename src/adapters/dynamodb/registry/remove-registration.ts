/**
 * Removing a registration, in an order that a crash may end anywhere:
 *
 *   registration ─▶ note "being removed" (compare-and-set) ─▶ claim of the UID ─▶ entry ─▶ the note
 *
 * From the note on it reads as not registered. The claim goes after that, or another registration could
 * speak for a registered cluster (S6); then the directory entry, so that an unfinished removal is listed.
 * A repeat, or the next registration under this id, finishes it; claim and entry go only as the very
 * writes that the note remembers, so that nothing of a new registration is removed.
 */
import * as v from 'valibot';
import { clusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { RegistrationRemoval } from '../../../ports/stores/registry-store.ts';
import type { StoredItem } from '../batched-reader.ts';
import { storedAs } from '../item-codec.ts';
import { DIRECTORY_PARTITION, clusterUidKey, registrationKey } from '../item-keys.ts';
import type { ItemKey } from '../item-keys.ts';
import type { Condition, Table } from '../table.ts';

/** Attribute of a directory entry: which write made it. */
export const ENTRY_TOKEN = 'entry';

const RemovalSchema = v.strictObject({
  token: v.string(),
  clusterUid: v.pipe(v.string(), v.transform(clusterUid)),
  claimWriter: v.exactOptional(v.string()),
  entryToken: v.exactOptional(v.string()),
});

const removalFrom = storedAs(RemovalSchema, 'is no mark of a removal that this release knows');

/** What is left to remove. */
type BegunRemoval = v.InferOutput<typeof RemovalSchema>;

/** The directory entry of a cluster. */
export function directoryKey(id: ClusterId): ItemKey {
  return { pk: DIRECTORY_PARTITION, sk: id };
}

/** What an unfinished removal left to do; undefined for a registration. Throws on a note that is none. */
export function readBegunRemoval(id: ClusterId, item: StoredItem): BegunRemoval | undefined {
  const { removal } = item;
  if (removal === undefined) return undefined;
  return removalFrom(removal, registrationKey(id));
}

/** Holds while the stored registration has this version. */
export function ifConfigVersion(
  version: number,
): Required<Pick<Condition, 'expression' | 'values'>> {
  return { expression: 'configVersion = :expected', values: { ':expected': version } };
}

/** Removes the registration if its version is still `expectedVersion`; finishes what was begun. */
export async function removeRegistration(
  table: Table,
  id: ClusterId,
  expectedVersion: number,
): Promise<RegistrationRemoval> {
  const key = registrationKey(id);
  const item = await table.get(key);
  if (item === undefined) return 'missing';
  const begun = readBegunRemoval(id, item);
  if (begun !== undefined) {
    await finishRemoval(table, id, begun);
    return 'removed';
  }
  if (item['configVersion'] !== expectedVersion) return 'lost';
  const removal = await removalOf(table, id, item);
  const written = await table.putIf(key, { removal }, ifConfigVersion(expectedVersion));
  if (written === 'lost') return 'lost';
  await finishRemoval(table, id, removal);
  return 'removed';
}

async function removalOf(table: Table, id: ClusterId, item: StoredItem): Promise<BegunRemoval> {
  const { registration } = item as { readonly registration?: { readonly clusterUid?: unknown } };
  const uid = clusterUid(String(registration?.clusterUid));
  const [claim, entry] = await Promise.all([
    table.get(clusterUidKey(uid)),
    table.get(directoryKey(id)),
  ]);
  const claimWriter = claim?.['holder'] === id ? claim['writer'] : undefined;
  const entryToken = entry?.[ENTRY_TOKEN];
  return {
    token: table.token(),
    clusterUid: uid,
    ...(typeof claimWriter === 'string' ? { claimWriter } : {}),
    ...(typeof entryToken === 'string' ? { entryToken } : {}),
  };
}

/** Removes what a note names, the note last. Harmless when it was done already. */
export async function finishRemoval(
  table: Table,
  id: ClusterId,
  removal: BegunRemoval,
): Promise<void> {
  if (removal.claimWriter !== undefined) {
    await table.removeIf(clusterUidKey(removal.clusterUid), {
      expression: 'holder = :id AND writer = :writer',
      values: { ':id': id, ':writer': removal.claimWriter },
    });
  }
  if (removal.entryToken !== undefined) {
    await table.removeIf(directoryKey(id), {
      expression: `${ENTRY_TOKEN} = :entry`,
      values: { ':entry': removal.entryToken },
    });
  }
  await table.removeIf(registrationKey(id), {
    expression: 'removal.#token = :token',
    names: { '#token': 'token' },
    values: { ':token': removal.token },
  });
}
