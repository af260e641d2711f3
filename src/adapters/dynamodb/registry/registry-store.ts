/**
 * The registry over DynamoDB: registrations, each held to a closed schema before a write and on a
 * read (S12), their directory, notes of refusals. An entry of the directory is written before its
 * registration, so that a listing never misses a cluster. Whatever was written raises the
 * registry's revision afterwards: who reads the new one reads what was written. A rival has an item
 * of its own, joined on reading.
 */
import * as v from 'valibot';
import { defined } from '@rollcall/base/defined.ts';
import { clusterId } from '../../../core/model/identifiers.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import { takeoverOf } from '../../../core/model/registration.ts';
import type { ClusterRegistration, RivalNote } from '../../../core/model/registration.ts';
import type { RegistryRevisionStore } from '../../../ports/stores/fleet-rollout-store.ts';
import type {
  DirectoryPage,
  FunctionRegistryStore,
  RegistrationWrite,
  RegistryStore,
} from '../../../ports/stores/registry-store.ts';
import { ItemUnreadableError, storedAs } from '../item-codec.ts';
import {
  DIRECTORY_PARTITION,
  REGISTRY_REVISION_KEY,
  clusterUidKey,
  registrationKey,
  rivalKey,
} from '../item-keys.ts';
import { listRefusals, noteRefusal } from './refusal-notes.ts';
import type { RefusalMemory } from './refusal-notes.ts';
import { parseRegistration } from './registration-schema.ts';
import {
  ENTRY_TOKEN,
  directoryKey,
  finishRemoval,
  ifConfigVersion,
  readBegunRemoval,
  removeRegistration,
} from './remove-registration.ts';
import type { StoredItem } from '../batched-reader.ts';
import { Table } from '../table.ts';
import type { DynamoStoreOptions } from '../table.ts';

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
      if (removed === 'removed') await table.increment(REGISTRY_REVISION_KEY, REVISION);
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
      if (written === 'written') await table.increment(REGISTRY_REVISION_KEY, REVISION);
      return written;
    },
    noteRival: (seenUnder, rival) => noteRival(table, seenUnder, rival),
    readRegistryRevision: async () =>
      (await table.getAs(REGISTRY_REVISION_KEY, (item, key) => revisionIn(item[REVISION], key))) ??
      0,
    listClusters: (page) => listClusters(table, page),
    noteRefusal: (note) => noteRefusal(note, { table, memory }),
  };
}

const REVISION = 'revision';
const revisionIn = storedAs(v.pipe(v.number(), v.safeInteger()), 'is no revision of the registry');

/** Whether the note of a rival is read beside a registration. */
type RivalReading = 'shown' | 'left-out';

async function readCluster(
  table: Table,
  id: ClusterId,
  rivals: RivalReading,
): Promise<ClusterRegistration | undefined> {
  const key = registrationKey(id);
  const [item, noted] = await Promise.all([
    table.get(key),
    rivals === 'shown' ? table.get(rivalKey(id)) : undefined,
  ]);
  if (item === undefined || readBegunRemoval(id, item) !== undefined) return undefined;
  const { registration, configVersion } = item;
  const parsed = parseRegistration({ ...(registration as object), configVersion });
  // An item under another cluster's key would lend that cluster's messages its credential (S6).
  if (parsed.kind === 'registration' && parsed.registration.id === id)
    return withRival(parsed.registration, noted);
  const fields = parsed.kind === 'refused' ? parsed.fields : ['id'];
  throw new ItemUnreadableError(key, `is no registration: ${fields.join(', ')}`);
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
  throw new ItemUnreadableError(rivalKey(registration.id), 'is no note of a rival');
}

async function noteRival(
  table: Table,
  seenUnder: ClusterRegistration,
  rival: RivalNote,
): Promise<'noted' | 'standing'> {
  const takeover = takeoverOf(seenUnder);
  if (takeover === undefined) return 'standing';
  const isNew = 'attribute_not_exists(pk) OR takeover <> :takeover';
  const condition = { expression: isNew, values: { ':takeover': takeover } };
  const written = await table.putIf(rivalKey(seenUnder.id), { takeover, rival }, condition);
  return written === 'written' ? 'noted' : 'standing';
}

async function writeCluster(
  table: Table,
  registration: ClusterRegistration,
  expectedVersion: number,
): Promise<RegistrationWrite> {
  const next = { ...registration, configVersion: expectedVersion + 1 };
  const checked = parseRegistration(next);
  if (checked.kind === 'refused') throw new RegistrationInvalidError(checked.fields);
  const key = registrationKey(registration.id);
  const { configVersion, frozen, rival: _noted, ...rest } = next;
  const attributes = {
    registration: { ...rest, ...(rest.isFrozen ? defined({ frozen }) : {}) },
    configVersion,
  };
  const ifExpected = ifConfigVersion(expectedVersion);
  if (expectedVersion > 0) {
    const isSameUid = 'AND #registration.clusterUid = :uid';
    const result = await table.updateIf(key, attributes, {
      expression: `${ifExpected.expression} ${isSameUid}`,
      names: { '#registration': 'registration' },
      values: { ...ifExpected.values, ':uid': registration.clusterUid },
    });
    if (result === 'written') return 'written';
    const stored = await table.get(key);
    if (stored?.['configVersion'] !== expectedVersion) return 'lost';
  }
  if (expectedVersion === 0 && !(await isVacant(table, registration.id))) return 'lost';
  if (!(await claimClusterUid(table, registration))) return 'uid-taken';
  if (expectedVersion > 0) return table.updateIf(key, attributes, ifExpected);
  await table.put(directoryKey(registration.id), { [ENTRY_TOKEN]: table.token() });
  return table.updateIf(key, attributes, { expression: 'attribute_not_exists(pk)' });
}

/** True if nothing is registered under this id; a removal that was not finished is finished first. */
async function isVacant(table: Table, id: ClusterId): Promise<boolean> {
  const item = await table.get(registrationKey(id));
  if (item === undefined) return true;
  const removal = readBegunRemoval(id, item);
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
  const { id, clusterUid } = registration;
  const key = clusterUidKey(clusterUid);
  const claim = { holder: id };
  const isFirst = 'attribute_not_exists(pk) OR holder = :id';
  const values = { ':id': id };
  if ((await table.putIf(key, claim, { expression: isFirst, values })) === 'written') return true;
  const holder = (await table.get(key))?.['holder'];
  if (typeof holder !== 'string') return false;
  const other = await readCluster(table, clusterId(holder), 'left-out');
  if (other === undefined || other.clusterUid === clusterUid) return false;
  const isStillHeld = { expression: 'holder = :holder', values: { ':holder': holder } };
  return (await table.putIf(key, claim, isStillHeld)) === 'written';
}

async function listClusters(
  table: Table,
  page: { readonly cursor?: string; readonly limit: number },
): Promise<DirectoryPage> {
  const { items, ...next } = await table.query({
    pk: DIRECTORY_PARTITION,
    limit: page.limit,
    attributes: ['sk'],
    after: page.cursor,
  });
  return { clusters: items.map((item) => clusterId(item['sk'] as string)), ...next };
}
