/**
 * Schemas of projections (core/model/projections.ts) as they travel: closed, bounded (core/projections/wire-bounds.ts).
 * A DaemonSet stays raw JSON.
 */
import * as v from 'valibot';
import { isJsonObject } from '@rollcall/base/json.ts';
import {
  ENTRIES_MAX,
  isDaemonSet,
  isLabelValue,
  isTaintEffect,
  isTaintKey,
} from '../../../core/projections/wire-bounds.ts';
import {
  countSchema,
  labelsSchema,
  namespaceSchema,
  objectNameSchema,
  timeSchema,
  uidSchema,
  versionSchema,
  wordSchema,
} from './field-schemas.ts';

export const watchedKindSchema = v.picklist(['Node', 'Pod', 'DaemonSet', 'ControllerRevision']);

const identityFields = {
  name: objectNameSchema,
  uid: uidSchema,
  resourceVersion: versionSchema,
};

const taintSchema = v.strictObject({
  key: v.custom<string>(isTaintKey),
  value: v.optional(v.custom<string>(isLabelValue)),
  effect: v.custom<string>(isTaintEffect),
});

const systemSchema = v.strictObject({
  kernelVersion: wordSchema,
  osImage: wordSchema,
  containerRuntimeVersion: wordSchema,
  kubeletVersion: wordSchema,
  bootId: wordSchema,
});

const nodeSchema = v.strictObject({
  kind: v.literal('Node'),
  ...identityFields,
  labels: labelsSchema,
  taints: v.pipe(v.array(taintSchema), v.maxLength(ENTRIES_MAX)),
  unschedulable: v.boolean(),
  isReady: v.boolean(),
  isTerminating: v.boolean(),
  createdAtMs: v.optional(timeSchema),
  system: v.optional(systemSchema),
});

/** As bounded as core/projections makes it (pod-trouble.ts); a property test holds the two together. */
const troubleSchema = v.strictObject({
  restarts: v.optional(countSchema({ min: 1, max: 1_000_000_000 })),
  waiting: v.optional(wordSchema),
  lastExit: v.optional(
    v.strictObject({
      reason: wordSchema,
      exitCode: countSchema({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      finishedAtMs: v.optional(timeSchema),
    }),
  ),
  container: v.optional(wordSchema),
  unscheduled: v.optional(wordSchema),
  cause: v.optional(wordSchema),
  disruption: v.optional(wordSchema),
  isReadyWithheld: v.optional(v.boolean()),
});

const podSchema = v.strictObject({
  kind: v.literal('Pod'),
  namespace: namespaceSchema,
  ...identityFields,
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
  trouble: v.optional(troubleSchema),
});

const revisionSchema = v.strictObject({
  kind: v.literal('ControllerRevision'),
  namespace: namespaceSchema,
  ...identityFields,
  ownerUid: v.optional(uidSchema),
  labels: labelsSchema,
  revision: v.pipe(v.number(), v.safeInteger()),
  isTerminating: v.boolean(),
});

/** A DaemonSet's own fields that its projection repeats. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

/** True for a DaemonSet with this identity, within bounds. */
export function isDaemonSetOf(
  value: unknown,
  expected: Readonly<Record<(typeof IDENTITY)[number], string>>,
): boolean {
  if (!isDaemonSet(value)) return false;
  const { metadata } = value;
  return isJsonObject(metadata) && IDENTITY.every((field) => metadata[field] === expected[field]);
}

const daemonSetSchema = v.pipe(
  v.strictObject({
    kind: v.literal('DaemonSet'),
    namespace: namespaceSchema,
    ...identityFields,
    object: v.unknown(),
  }),
  v.check((projection) => isDaemonSetOf(projection.object, projection)),
);

const opaqueSchema = v.pipe(
  v.strictObject({
    kind: v.literal('Opaque'),
    of: watchedKindSchema,
    namespace: v.optional(namespaceSchema),
    ...identityFields,
    reason: v.picklist(['too-large', 'undecodable']),
    outline: v.optional(
      v.strictObject({
        bytes: countSchema({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        bytesMax: countSchema({ min: 0, max: Number.MAX_SAFE_INTEGER }),
        object: v.unknown(),
      }),
    ),
  }),
  v.check(
    ({ of, outline, namespace = '', ...identity }) =>
      outline === undefined ||
      (of === 'DaemonSet' && isDaemonSetOf(outline.object, { ...identity, namespace })),
  ),
);

export const projectionSchema = v.variant('kind', [
  podSchema,
  nodeSchema,
  revisionSchema,
  daemonSetSchema,
  opaqueSchema,
]);
