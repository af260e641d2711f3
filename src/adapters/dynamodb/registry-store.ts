/**
 * The registry over DynamoDB: registrations, their directory, notes of rivals and of refusals. An
 * entry of the directory is written before its registration, so that a listing never misses a
 * cluster. Whatever was written raises the registry's revision afterwards.
 */
import { clusterId, clusterUid } from '../../core/model/identifiers.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import { takeoverOf } from '../../core/model/registration.ts';
import type { ClusterRegistration, RivalNote } from '../../core/model/registration.ts';
import type { RegistryRevisionStore } from '../../ports/stores/fleet-rollout-store.ts';
import type {
  FunctionRegistryStore,
  RefusalNote,
  RefusalOutcome,
  RegistrationRemoval,
  RegistrationWrite,
  RegistryStore,
} from '../../ports/stores/registry-store.ts';
import { ItemUnreadableError, at } from './item-codec.ts';
import type { StoredItem } from './item-codec.ts';
import { removalIn } from './record-schemas.ts';
import type { BegunRemoval } from './record-schemas.ts';
import {
  CLAIM,
  DIRECTORY_ENTRY,
  DIRECTORY_PARTITION,
  REFUSAL,
  REGISTRATION,
  REVISION,
  RIVAL,
  refusalPartitions,
} from './records.ts';
import { parseRegistration } from './registration-schema.ts';
import { IF_MISSING, Table } from './table.ts';
import type { Condition, DynamoStoreOptions } from './table.ts';

/** A registration that does not fit the schema is not written. Names fields, never values (S11). */
class RegistrationInvalidError extends Error {
  override readonly name = 'RegistrationInvalidError';
  readonly code = 'registration-invalid';
  readonly fields: readonly string[];

  constructor(fields: readonly string[]) {
    super(`not a registration: ${fields.join(', ')}`);
    this.fields = fields;
  }
}

/** The registry, over a DynamoDB-compatible table with string keys `pk` and `sk`. */
export function createDynamoRegistryStore(
  options: DynamoStoreOptions,
): RegistryStore & RegistryRevisionStore {
  const table = new Table(options);
  return {
    ...createFunctionRegistryStore({ ...options, rivals: 'shown' }),
    listRefusals: (cluster, sender) => listRefusals(table, cluster, sender),
    removeCluster: async (id, expectedVersion) => {
      const removed = await removeRegistration(table, id, expectedVersion);
      if (removed === 'removed') await raiseRevision(table);
      return removed;
    },
  };
}

/**
 * The registry as functions have it: none of them removes a cluster, so their bundles do not hold how. Who acts in no cluster
 * needs no note of a rival, and does not pay for it with each message.
 */
export function createFunctionRegistryStore({
  rivals,
  ...options
}: DynamoStoreOptions & { readonly rivals: RivalReading }): FunctionRegistryStore &
  RegistryRevisionStore {
  const table = new Table(options);
  const memory: RefusalMemory = new Map();
  return {
    readCluster: (id) => readCluster(table, id, rivals),
    writeCluster: async (registration, expectedVersion) => {
      const written = await writeCluster(table, registration, expectedVersion);
      if (written === 'written') await raiseRevision(table);
      return written;
    },
    noteRival: (seenUnder, rival) => noteRival(table, seenUnder, rival),
    readRegistryRevision: async () => (await table.read(REVISION)) ?? 0,
    listClusters: async ({ cursor, limit }) => {
      const query = { pk: DIRECTORY_PARTITION, limit, after: cursor, attributes: ['sk'] };
      const { items, ...next } = await table.query(query);
      return { clusters: items.map(({ sk }) => clusterId(String(sk))), ...next };
    },
    noteRefusal: (note) => noteRefusal(note, { table, memory }),
  };
}

function raiseRevision(table: Table): Promise<void> {
  return table.increment(REVISION.keyOf(), 'revision');
}

/** Whether the note of a rival is read beside a registration. */
type RivalReading = 'shown' | 'left-out';

async function readCluster(
  table: Table,
  id: ClusterId,
  rivals: RivalReading,
): Promise<ClusterRegistration | undefined> {
  const [registration, noted] = await Promise.all([
    table.read(REGISTRATION, id),
    rivals === 'shown' ? table.read(RIVAL, id) : undefined,
  ]);
  return registration && withRival(registration, noted);
}

/** With what was noted in its takeover. A note of it that cannot be read is an error, which counts as frozen (protocol 13). */
function withRival(
  registration: ClusterRegistration,
  noted: StoredItem | undefined,
): ClusterRegistration {
  const takeover = takeoverOf(registration);
  if (takeover === undefined || noted?.['takeover'] !== takeover) return registration;
  const parsed = parseRegistration({ ...registration, rival: noted['rival'] });
  if (parsed.kind === 'registration') return parsed.registration;
  throw new ItemUnreadableError(
    RIVAL.keyOf(registration.id),
    'is no note of a conflicting controller',
  );
}

async function noteRival(
  table: Table,
  seenUnder: ClusterRegistration,
  rival: RivalNote,
): Promise<'noted' | 'standing'> {
  const takeover = takeoverOf(seenUnder);
  if (takeover === undefined) return 'standing';
  const written = await table.writeIf(
    at(RIVAL, seenUnder.id),
    { takeover, rival },
    {
      expression: 'attribute_not_exists(pk) OR takeover <> :takeover',
      values: { ':takeover': takeover },
    },
  );
  return written === 'written' ? 'noted' : 'standing';
}

async function writeCluster(
  table: Table,
  registration: ClusterRegistration,
  expectedVersion: number,
): Promise<RegistrationWrite> {
  const { id } = registration;
  const next = { ...registration, configVersion: expectedVersion + 1 };
  const checked = parseRegistration(next);
  if (checked.kind === 'refused') throw new RegistrationInvalidError(checked.fields);
  const ifExpected = ifConfigVersion(expectedVersion);
  if (expectedVersion > 0) {
    const result = await table.writeIf(at(REGISTRATION, id), next, {
      expression: `${ifExpected.expression} AND #registration.clusterUid = :uid`,
      names: { '#registration': 'registration' },
      values: { ...ifExpected.values, ':uid': registration.clusterUid },
    });
    if (result === 'written') return 'written';
    const stored = await table.get(REGISTRATION.keyOf(id));
    if (stored?.['configVersion'] !== expectedVersion) return 'lost';
  }
  if (expectedVersion === 0 && !(await isVacant(table, id))) return 'lost';
  if (!(await claimClusterUid(table, registration))) return 'uid-taken';
  if (expectedVersion > 0) return table.writeIf(at(REGISTRATION, id), next, ifExpected);
  await table.write(at(DIRECTORY_ENTRY, id), table.token());
  return table.writeIf(at(REGISTRATION, id), next, IF_MISSING);
}

/** True if nothing is registered under this id; a removal that was not finished is finished first. */
async function isVacant(table: Table, id: ClusterId): Promise<boolean> {
  const key = REGISTRATION.keyOf(id);
  const item = await table.get(key);
  if (item === undefined) return true;
  const removal = removalIn(item, key);
  if (removal === undefined) return false;
  await finishRemoval(table, id, removal);
  return true;
}

/**
 * One cluster UID, one registration: the view is kept by UID, and an API server says itself which UID
 * its cluster has. Without this a tenant whose API server names another tenant's UID would write that
 * tenant's view (S6). A claim passes on only when its holder is registered as another cluster by now.
 */
async function claimClusterUid(table: Table, registration: ClusterRegistration): Promise<boolean> {
  const { id, clusterUid: uid } = registration;
  const claim = (condition: Condition) => table.writeIf(at(CLAIM, uid), id, condition);
  const isFirst = 'attribute_not_exists(pk) OR holder = :id';
  if ((await claim({ expression: isFirst, values: { ':id': id } })) === 'written') return true;
  const holder = (await table.read(CLAIM, uid))?.['holder'];
  if (typeof holder !== 'string') return false;
  const other = await readCluster(table, clusterId(holder), 'left-out');
  if (other === undefined || other.clusterUid === uid) return false;
  const isStillHeld = { expression: 'holder = :holder', values: { ':holder': holder } };
  return (await claim(isStillHeld)) === 'written';
}

function ifConfigVersion(version: number): Condition {
  return { expression: 'configVersion = :expected', values: { ':expected': version } };
}

/**
 * Removes a registration, in an order that a crash may end anywhere:
 *
 *   registration ─▶ note "being removed" (compare-and-set) ─▶ claim of the UID ─▶ entry ─▶ the note
 *
 * From the note on it reads as not registered. The claim goes after that, or another registration
 * could speak for a registered cluster (S6); then the directory entry, so that an unfinished removal
 * is listed. A repeat, or the next registration under this id, finishes it; claim and entry go only
 * as the very writes that the note remembers, so that nothing of a new registration is removed.
 */
async function removeRegistration(
  table: Table,
  id: ClusterId,
  expectedVersion: number,
): Promise<RegistrationRemoval> {
  const key = REGISTRATION.keyOf(id);
  const item = await table.get(key);
  if (item === undefined) return 'missing';
  const begun = removalIn(item, key);
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
    table.read(CLAIM, uid),
    table.read(DIRECTORY_ENTRY, id),
  ]);
  const claimWriter = claim?.['holder'] === id ? claim['writer'] : undefined;
  return {
    token: table.token(),
    clusterUid: uid,
    ...(typeof claimWriter === 'string' ? { claimWriter } : {}),
    ...(typeof entry === 'string' ? { entryToken: entry } : {}),
  };
}

/** Removes what a note names, the note last. Harmless when it was done already. */
async function finishRemoval(table: Table, id: ClusterId, removal: BegunRemoval): Promise<void> {
  if (removal.claimWriter !== undefined) {
    await table.removeIf(CLAIM.keyOf(removal.clusterUid), {
      expression: 'holder = :id AND writer = :writer',
      values: { ':id': id, ':writer': removal.claimWriter },
    });
  }
  if (removal.entryToken !== undefined) {
    await table.removeIf(DIRECTORY_ENTRY.keyOf(id), {
      expression: 'entry = :entry',
      values: { ':entry': removal.entryToken },
    });
  }
  await table.removeIf(REGISTRATION.keyOf(id), {
    expression: 'removal.#token = :token',
    names: { '#token': 'token' },
    values: { ':token': removal.token },
  });
}

const HOUR_MS = 3_600_000;
/** Without a refusal of its sender and code for so long, one is the first again. */
const ANEW_AFTER_MS = 24 * HOUR_MS;
/** Notes of one unverified sender in an hour. */
const NOTES_MAX = 20;
const SENDERS_MAX = 1000;
/** Most that is read of a partition. */
const LISTED_MAX = 500;
const REPEATED_BY_WATCHERS = 'wrong-cluster-uid';

/**
 * A process's memory of its notes, by hour and sender, so that a look-up takes the place of
 * a write. What was not looked up for longest leaves first; what is forgotten is written once more.
 */
type RefusalMemory = Map<string, Map<string, RefusalOutcome>>;

/** Replaces the note before. For an unverified sender it tries once, and only so many times an hour. */
async function noteRefusal(
  note: RefusalNote,
  { table, memory }: { readonly table: Table; readonly memory: RefusalMemory },
): Promise<RefusalOutcome> {
  const key = REFUSAL.keyOf(note);
  const id = `${key.pk} ${key.sk}`;
  const isForged = note.sender === 'unverified';
  const sender = isForged ? `/${note.senderRoleId ?? ''}` : note.cluster;
  const known = rememberedIn(memory, `${Math.floor(note.atMs / HOUR_MS)} ${sender}`);
  const isFull = isForged && known.size >= NOTES_MAX;
  const outcome = known.get(id) ?? (isFull ? 'unkept' : undefined);
  if (outcome !== undefined) return outcome;
  if (isForged) known.set(id, 'unkept');
  const first = await table.writeIf(at(REFUSAL, note), note, {
    expression: 'attribute_not_exists(pk) OR atMs < :forgotten',
    values: { ':forgotten': note.atMs - ANEW_AFTER_MS },
  });
  if (first === 'lost') await table.write(at(REFUSAL, note), note);
  if (isForged || note.code === REPEATED_BY_WATCHERS) known.set(id, 'noted');
  return first === 'written' ? 'first' : 'noted';
}

function rememberedIn(memory: RefusalMemory, hour: string): Map<string, RefusalOutcome> {
  const known = memory.get(hour) ?? new Map<string, RefusalOutcome>();
  memory.delete(hour);
  memory.set(hour, known);
  const [oldest = hour] = memory.keys();
  if (memory.size > SENDERS_MAX) memory.delete(oldest);
  return known;
}

/** Claims of other senders, read from the cluster's claims and from those without a registration. */
async function listRefusals(
  table: Table,
  cluster: ClusterId,
  sender: RefusalNote['sender'],
): Promise<readonly RefusalNote[]> {
  const pages = await Promise.all(
    refusalPartitions(cluster, sender).map((pk) => table.list(REFUSAL, { pk, limit: LISTED_MAX })),
  );
  const notes = pages.flatMap(({ records }) => records);
  return notes.filter((note) => note.cluster === cluster);
}
