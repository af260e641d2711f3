/**
 * Schemas of projections as they travel (src/core/model/projections.ts): closed, bounded.
 *
 * The effect of a taint is any short word: an API server may learn one that we do not know, and that
 * must not stop a cluster's messages.
 */
import * as v from 'valibot';
import { isDaemonSetOf } from './raw-object.ts';
import {
  labelsSchema,
  namespaceSchema,
  objectNameSchema,
  taintKeySchema,
  taintValueSchema,
  textSchema,
  timeSchema,
  uidSchema,
  versionSchema,
  wordSchema,
} from './field-schemas.ts';

/** The four kinds. */
export const watchedKindSchema = v.picklist(['Node', 'Pod', 'DaemonSet', 'ControllerRevision']);

const TAINTS_MAX = 1000;

const taintSchema = v.strictObject({
  key: taintKeySchema,
  value: v.optional(taintValueSchema),
  effect: textSchema(/^[A-Za-z]{1,63}$/),
});

const nodeSchema = v.strictObject({
  kind: v.literal('Node'),
  name: objectNameSchema,
  uid: uidSchema,
  resourceVersion: versionSchema,
  labels: labelsSchema,
  taints: v.pipe(v.array(taintSchema), v.maxLength(TAINTS_MAX)),
  unschedulable: v.boolean(),
  isReady: v.boolean(),
  isTerminating: v.boolean(),
});

const podSchema = v.strictObject({
  kind: v.literal('Pod'),
  namespace: namespaceSchema,
  name: objectNameSchema,
  uid: uidSchema,
  resourceVersion: versionSchema,
  ownerUid: v.optional(uidSchema),
  labels: labelsSchema,
  boundNode: v.optional(objectNameSchema),
  targetNode: v.optional(objectNameSchema),
  phase: v.picklist(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']),
  reason: v.optional(wordSchema),
  isReady: v.boolean(),
  readyChangedAtMs: v.optional(timeSchema),
  createdAtMs: timeSchema,
  isTerminating: v.boolean(),
});

const revisionSchema = v.strictObject({
  kind: v.literal('ControllerRevision'),
  namespace: namespaceSchema,
  name: objectNameSchema,
  uid: uidSchema,
  resourceVersion: versionSchema,
  ownerUid: v.optional(uidSchema),
  labels: labelsSchema,
  revision: v.pipe(v.number(), v.safeInteger()),
  isTerminating: v.boolean(),
});

const daemonSetSchema = v.pipe(
  v.strictObject({
    kind: v.literal('DaemonSet'),
    namespace: namespaceSchema,
    name: objectNameSchema,
    uid: uidSchema,
    resourceVersion: versionSchema,
    object: v.unknown(),
  }),
  v.check((projection) => isDaemonSetOf(projection.object, projection)),
);

const opaqueSchema = v.strictObject({
  kind: v.literal('Opaque'),
  of: watchedKindSchema,
  namespace: v.optional(namespaceSchema),
  name: objectNameSchema,
  uid: uidSchema,
  resourceVersion: versionSchema,
  reason: v.picklist(['too-large', 'undecodable']),
});

/** Any projection. */
export const projectionSchema = v.variant('kind', [
  podSchema,
  nodeSchema,
  revisionSchema,
  daemonSetSchema,
  opaqueSchema,
]);
