/**
 * What a stored record of a fleet's rollout has to look like. Closed: a field that this release
 * does not know is an error, since the record is written back whole, and an order of a newer
 * release would be lost with it. Lists are held to their bounds.
 */
import * as v from 'valibot';
import {
  POOL_CLUSTERS_MAX,
  POOL_COUNTED_MAX,
  POOL_NODES_MAX,
} from '../../../core/fleet/attribution/fleet-pool.ts';
import type { FleetPool } from '../../../core/fleet/attribution/fleet-pool.ts';
import { CLUSTER_FAILURE_CAUSES } from '../../../core/fleet/rollout/failure-class.ts';
import { UNTOLD_MAX } from '../../../core/fleet/rollout/fleet-decision.ts';
import type {
  FleetClusterRecord,
  FleetGate,
  FleetRecord,
} from '../../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../../core/fleet/rollout/tally-stage.ts';
import { clusterId, clusterUid, nodeName } from '../../../core/model/identifiers.ts';

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

/** A release, as heads of FleetDaemonSets and records of rollouts hold it. */
export const ReleaseSchema = v.strictObject(releaseEntries);

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
      breachAtMs: timeSchema,
      breach: v.exactOptional(BreachSchema),
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
    'stage-passed',
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

/** The record of a fleet; its key and version stand beside it. */
export const RecordSchema: v.GenericSchema<
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

/** What steps found at clusters. */
export const LooksSchema: v.GenericSchema<unknown, KeptLook[]> = v.array(
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

/** The record of a cluster; its id and version stand beside it. */
export const ClusterRecordSchema: v.GenericSchema<
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
