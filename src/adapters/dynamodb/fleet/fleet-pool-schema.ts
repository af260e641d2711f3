/**
 * What the stored pool of a rollout has to look like (core/fleet/attribution/fleet-pool.ts).
 *
 * A member of the fleet's record, closed and bounded as all of it is.
 */
import * as v from 'valibot';
import {
  POOL_CLUSTERS_MAX,
  POOL_COUNTED_MAX,
  POOL_NODES_MAX,
} from '../../../core/fleet/attribution/fleet-pool.ts';
import type { FleetPool } from '../../../core/fleet/attribution/fleet-pool.ts';
import { clusterId, nodeName } from '../../../core/model/identifiers.ts';

const NAMED_MAX = 16;

const timeSchema = v.pipe(v.number(), v.finite());
const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const nodeSchema = v.pipe(v.string(), v.minLength(1), v.transform(nodeName));
const clusterSchema = v.pipe(v.string(), v.minLength(1), v.transform(clusterId));
const nodesSchema = v.pipe(v.array(nodeSchema), v.maxLength(POOL_NODES_MAX));
const ratioSchema = v.pipe(v.number(), v.finite());

/** The pool of a rollout. */
export const PoolSchema: v.GenericSchema<unknown, FleetPool> = v.strictObject({
  listId: v.string(),
  places: v.pipe(v.array(countSchema), v.maxLength(POOL_CLUSTERS_MAX)),
  startedAtMs: timeSchema,
  outside: nodesSchema,
  logRatios: v.strictTuple([ratioSchema, ratioSchema, ratioSchema, ratioSchema]),
  counted: v.pipe(v.array(clusterSchema), v.maxLength(POOL_COUNTED_MAX)),
  isVoid: v.boolean(),
  counts: v.strictObject({
    givenNodes: countSchema,
    givenBad: countSchema,
    otherNodes: countSchema,
    otherBad: countSchema,
  }),
  failed: v.pipe(v.array(clusterSchema), v.maxLength(NAMED_MAX)),
});
