/**
 * Every record of FleetDaemonSets and of their rollouts (records.ts has all others). Closed: a field
 * that this release does not know is an error, since a record is written back whole, and an order of
 * a newer release would be lost with it. Lists are held to their bounds.
 */
import * as v from 'valibot';
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import {
  POOL_CLUSTERS_MAX,
  POOL_COUNTED_MAX,
  POOL_NODES_MAX,
} from '../../core/fleet/attribution/fleet-pool.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetPool } from '../../core/fleet/attribution/fleet-pool.ts';
import { CLUSTER_FAILURE_CAUSES } from '../../core/fleet/rollout/failure-class.ts';
import { UNTOLD_MAX } from '../../core/fleet/rollout/fleet-decision.ts';
import type {
  FleetClusterRecord,
  FleetGate,
  FleetRecord,
} from '../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../core/fleet/rollout/tally-stage.ts';
import { clusterId, clusterUid, nodeName, type ClusterId } from '../../core/model/identifiers.ts';
import type { FleetInstance, FleetHead } from '../../ports/stores/fleet-rollout-store.ts';
import {
  ItemUnreadableError,
  bodyAlone,
  decodeBody,
  namesIn,
  storedAs,
  versioned,
} from './item-codec.ts';
import type { ItemKey, RecordKind, StoredItem } from './item-codec.ts';

const timeSchema = v.pipe(v.number(), v.finite());
const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const nodeSchema = v.pipe(v.string(), v.minLength(1), v.transform(nodeName));
const ratiosSchema = v.strictTuple([timeSchema, timeSchema, timeSchema, timeSchema]);
const idSchema = v.pipe(v.string(), v.minLength(1), v.transform(clusterId));
const SHOWN_MAX = 16;
const STAGES_MAX = 33;
const REFUSED_MAX = 8;
const GOOD_MAX = 4;

function listOf<T extends v.GenericSchema>(item: T, countMax: number) {
  return v.pipe(v.array(item), v.maxLength(countMax));
}

const releaseEntries = {
  generation: countSchema,
  documentId: v.string(),
  appliedAtMs: timeSchema,
  appliedBy: v.string(),
  contentHash: v.string(),
};
const GoodSchema = v.strictObject({
  ...releaseEntries,
  id: v.string(),
  goodAtMs: timeSchema,
  isBaseline: v.boolean(),
  leftAtMs: v.exactOptional(timeSchema),
});

const ReleaseSchema = v.strictObject(releaseEntries);

const MembersSchema = v.strictObject({ id: v.string(), count: countSchema });
const CAUSES = [
  'ClustersFailed',
  'ClustersNotUpdated',
  'ClustersSilent',
  'NodesFailed',
  'ProgressDeadlineExceeded',
  'KnownBad',
  'ReturnFailed',
] as const;
const causeSchema = v.picklist(CAUSES);
const refusedSchema = v.strictObject({
  contentHash: v.string(),
  cause: v.picklist([...CAUSES, 'Undone']),
  atMs: timeSchema,
});
const noteEntries = { by: v.string(), atMs: timeSchema };

const BreachSchema = v.strictObject({
  cause: causeSchema,
  atMs: timeSchema,
  message: v.string(),
  clusters: listOf(idSchema, SHOWN_MAX),
  grounds: v.exactOptional(v.picklist(['one-cluster', 'place'])),
});

const OrdersSchema = v.strictObject({
  paused: v.exactOptional(v.strictObject(noteEntries)),
  approved: v.exactOptional(v.strictObject({ ...noteEntries, stepIndex: countSchema })),
  resumed: v.exactOptional(
    v.strictObject({
      ...noteEntries,
      breach: BreachSchema,
      why: v.exactOptional(v.string()),
    }),
  ),
  undo: v.exactOptional(v.strictObject(noteEntries)),
});

const GateSchema: v.GenericSchema<unknown, FleetGate> = v.variant('kind', [
  v.strictObject({
    kind: v.picklist(['updating', 'paused', 'breach', 'returning', 'returned', 'next', 'done']),
  }),
  v.strictObject({ kind: v.literal('soaking'), untilMs: timeSchema }),
  v.strictObject({ kind: v.literal('approval'), stepIndex: countSchema }),
  v.strictObject({ kind: v.literal('window'), opensAtMs: v.exactOptional(timeSchema) }),
  v.strictObject({ kind: v.literal('frozen'), by: v.string(), why: v.string() }),
  v.strictObject({ kind: v.literal('no-evidence'), stage: v.string(), stepIndex: countSchema }),
  v.strictObject({
    kind: v.literal('refused'),
    cluster: idSchema,
    message: v.string(),
    sinceMs: timeSchema,
    askAtMs: timeSchema,
  }),
  v.strictObject({ kind: v.literal('invalid'), message: v.string() }),
]);

const UntoldSchema = v.strictObject({
  id: v.string(),
  kind: v.picklist([
    'rollout-started',
    'stage-opened',
    'cluster-failed',
    'halted',
    'rollback-started',
    'rolled-back',
    'paused',
    'resumed',
    'approved',
    'completed',
  ]),
  atMs: timeSchema,
  message: v.string(),
  cluster: v.exactOptional(idSchema),
});

const CountsSchema = v.strictObject(
  v.entriesFromList(
    ['waiting', 'rolling', 'well', 'failed', 'offline', 'untouched', 'returning'],
    countSchema,
  ),
);

const PoolSchema: v.GenericSchema<unknown, FleetPool> = v.strictObject({
  listId: v.string(),
  places: listOf(countSchema, POOL_CLUSTERS_MAX),
  startedAtMs: timeSchema,
  outside: listOf(nodeSchema, POOL_NODES_MAX),
  logRatios: ratiosSchema,
  counted: listOf(idSchema, POOL_COUNTED_MAX),
  isVoid: v.boolean(),
  counts: v.strictObject({
    givenNodes: countSchema,
    givenBad: countSchema,
    otherNodes: countSchema,
    otherBad: countSchema,
  }),
  failed: listOf(idSchema, SHOWN_MAX),
});

const RecordSchema: v.GenericSchema<
  unknown,
  Omit<FleetRecord, 'namespace' | 'name' | 'version'>
> = v.strictObject({
  uid: v.string(),
  release: ReleaseSchema,
  startedAtMs: timeSchema,
  stage: v.pipe(v.number(), v.safeInteger(), v.minValue(-1)),
  stageOpenedAtMs: timeSchema,
  wellSinceMs: v.exactOptional(timeSchema),
  progressedAtMs: timeSchema,
  stages: listOf(
    v.strictObject({ name: v.string(), members: MembersSchema, namesNobody: v.boolean() }),
    STAGES_MAX,
  ),
  ring: MembersSchema,
  registryRevision: countSchema,
  dealtAtMs: timeSchema,
  untouchedClusters: countSchema,
  ringDueAtMs: timeSchema,
  driftDueAtMs: timeSchema,
  drifted: v.exactOptional(
    v.strictObject({
      count: countSchema,
      clusters: listOf(idSchema, SHOWN_MAX),
    }),
  ),
  pool: v.exactOptional(PoolSchema),
  breach: v.exactOptional(BreachSchema),
  good: listOf(GoodSchema, GOOD_MAX),
  isReturn: v.exactOptional(v.literal(true)),
  older: v.exactOptional(v.picklist(['too-old', 'too-far-back'])),
  refused: listOf(refusedSchema, REFUSED_MAX),
  orders: OrdersSchema,
  untold: listOf(UntoldSchema, UNTOLD_MAX),
  gate: GateSchema,
  counts: CountsSchema,
  dueAtMs: timeSchema,
});

const phaseSchema = v.picklist(['applying', 'rolling', 'well', 'failed', 'returning', 'returned']);

const LooksSchema: v.GenericSchema<unknown, KeptLook[]> = v.array(
  v.strictObject({
    cluster: idSchema,
    atMs: timeSchema,
    kind: v.picklist([
      'gone',
      'untouched',
      'offline',
      'rebuilt',
      'awaited',
      'unclear',
      'rolling',
      'well',
      'empty',
      'reverted',
      'failed',
    ]),
    phase: v.exactOptional(phaseSchema),
    ratios: v.exactOptional(ratiosSchema),
  }),
);

const ClusterRecordSchema: v.GenericSchema<
  unknown,
  Omit<FleetClusterRecord, 'cluster' | 'version'>
> = v.strictObject({
  clusterUid: v.pipe(v.string(), v.minLength(1), v.transform(clusterUid)),
  place: v.union([countSchema, v.literal('ring')]),
  generation: countSchema,
  contentHash: v.string(),
  hash: v.string(),
  openedAtMs: timeSchema,
  appliedGeneration: v.exactOptional(countSchema),
  isPartial: v.boolean(),
  isUngated: v.exactOptional(v.literal(true)),
  phase: phaseSchema,
  wellSinceMs: v.exactOptional(timeSchema),
  failure: v.exactOptional(
    v.strictObject({
      cause: v.picklist(CLUSTER_FAILURE_CAUSES),
      message: v.string(),
      atMs: timeSchema,
      nodes: listOf(v.pipe(v.string(), v.transform(nodeName)), SHOWN_MAX),
    }),
  ),
  nodes: v.exactOptional(v.strictObject({ updated: countSchema, desired: countSchema })),
  reverts: v.exactOptional(
    v.strictObject({
      count: countSchema,
      sinceMs: timeSchema,
      by: v.string(),
      isOpen: v.exactOptional(v.literal(true)),
    }),
  ),
  attempts: countSchema,
  dueAtMs: timeSchema,
});

const versionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** Body and version; names the fields that do not fit, never a value. */
function versionedIn<T>(item: StoredItem, key: ItemKey, schema: v.GenericSchema<unknown, T>) {
  const body = v.safeParse(schema, decodeBody(key, item['body']));
  const version = v.safeParse(versionSchema, item['version']);
  if (body.success && version.success) return { ...body.output, version: version.output };
  const fields = body.success
    ? ['version']
    : body.issues.map((issue) => v.getDotPath(issue) ?? 'the whole');
  throw new ItemUnreadableError(key, `is no record of a rollout: ${fields.slice(0, 8).join(', ')}`);
}

const membersIn = storedAs(
  v.array(v.pipe(v.string(), v.minLength(1), v.transform(clusterId))),
  'is no page of its list',
);

const headIn = storedAs(
  v.object({
    uid: v.string(),
    version: versionSchema,
    generation: versionSchema,
    appliedAtMs: v.number(),
    appliedBy: v.string(),
    documentId: v.string(),
    contentHash: v.string(),
    history: v.array(ReleaseSchema),
  }),
  'is no head of a FleetDaemonSet',
);

const documentIn = storedAs(v.custom<JsonObject>(isJsonObject), 'holds no object');

/** The one partition of the heads of FleetDaemonSets: they are few. */
export const FLEETS_PARTITION = 'FLEETS#00';

/** The last apply, and which document has it. By operators. */
export const FLEET: RecordKind<[FleetKey], FleetHead> = {
  keyOf: ({ namespace, name }) => ({ pk: FLEETS_PARTITION, sk: `${namespace}/${name}` }),
  read: (item, key) => ({ ...namesIn(key.sk), ...headIn(item, key) }),
  attributes: ({ namespace: _namespace, name: _name, ...head }) => head,
  written: 'put',
};

/** A document of a FleetDaemonSet, never changed. By operators. */
export const FLEET_DOCUMENT: RecordKind<[FleetKey, string], JsonObject> = {
  keyOf: ({ namespace, name }, id) => ({ pk: `FLEET#${namespace}/${name}`, sk: `DOCUMENT#${id}` }),
  read: ({ body }, key) => documentIn(decodeBody(key, body), key),
  attributes: bodyAlone,
  written: 'put',
};

/** The one partition of the records of their rollouts: the schedule goes through them by one query. */
export const FLEET_ROLLOUTS_PARTITION = 'FLEET-ROLLOUTS#00';

/** How far the rollout of one is; uid and version beside the body, for conditions. By `fleet`, and by orders. */
export const FLEET_ROLLOUT: RecordKind<[FleetKey], FleetRecord> = {
  keyOf: ({ namespace, name }) => ({ pk: FLEET_ROLLOUTS_PARTITION, sk: `${namespace}/${name}` }),
  read: (item, key) => ({ ...namesIn(key.sk), ...versionedIn(item, key, RecordSchema) }),
  attributes: ({ namespace: _namespace, name: _name, ...record }, key) => ({
    uid: record.uid,
    ...versioned(record, key),
  }),
  written: 'put',
};

/** The part that grows with its clusters: of this uid alone, so nothing of a former one is taken for its own. */
export function fleetPartition({ namespace, name, uid }: FleetInstance): string {
  return `FLEET-ROLLOUT#${namespace}/${name}#${uid}`;
}

/** The release of one cluster. By `fleet`. */
export const FLEET_CLUSTER: RecordKind<[FleetInstance, ClusterId], FleetClusterRecord> = {
  keyOf: (fleet, cluster) => ({ pk: fleetPartition(fleet), sk: `CLUSTER#${cluster}` }),
  read: (item, key) => ({
    cluster: clusterId(key.sk.slice(key.sk.indexOf('#') + 1)),
    ...versionedIn(item, key, ClusterRecordSchema),
  }),
  attributes: ({ cluster: _cluster, ...record }, key) => versioned(record, key),
  written: 'put',
};

/** Where all lists of members begin. */
export const MEMBERS_PREFIX = 'MEMBERS#';

/** One page of a list of members, never changed; `version-random` is its id. By `fleet`, and by orders. */
export const FLEET_MEMBERS: RecordKind<[FleetInstance, string, number], readonly ClusterId[]> = {
  keyOf: (fleet, id, page) => ({
    pk: fleetPartition(fleet),
    sk: `${MEMBERS_PREFIX}${id}#${String(page).padStart(4, '0')}`,
  }),
  read: ({ body }, key) => membersIn(decodeBody(key, body), key),
  attributes: bodyAlone,
  written: 'put',
};

/** One page of what steps found at clusters; the last write wins. Unreadable: looked at again. By `fleet`. */
export const FLEET_LOOKS: RecordKind<[FleetInstance, number], readonly KeptLook[]> = {
  keyOf: (fleet, page) => ({
    pk: fleetPartition(fleet),
    sk: `LOOKS#${String(page).padStart(4, '0')}`,
  }),
  read: ({ body }, key) => {
    const looks = v.safeParse(LooksSchema, decodeBody(key, body));
    return looks.success ? looks.output : [];
  },
  attributes: bodyAlone,
  written: 'put',
};
