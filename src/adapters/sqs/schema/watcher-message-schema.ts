/**
 * Schemas of a watcher's message: its header and its four bodies (src/core/model/watcher-message.ts).
 *
 * Closed: an unknown key is refused, because it can only come from another schema version or from an
 * attacker. Bounds of arrays are far above what 256 KiB compressed can hold in earnest.
 */
import * as v from 'valibot';
import { AFFECTED_KEYS_MAX, MESSAGE_SCHEMA } from '../../../core/model/watcher-message.ts';
import {
  clusterIdSchema,
  countSchema,
  namespaceSchema,
  objectNameSchema,
  textSchema,
  timeSchema,
  tokenSchema,
  uidSchema,
  versionSchema,
} from './field-schemas.ts';
import { projectionSchema, watchedKindSchema } from './projection-schema.ts';

/** What SQS itself takes at most. */
export const BODY_LENGTH_MAX = 1024 * 1024;

const HASH_MAX = 2 ** 48 - 1;
/** What a stamp has room for. */
const SEQ_MAX = 999_999_999_999;
const ITEMS_MAX = 50_000;
const SLICE_INDEX_MAX = 9_999;
const RULES_MAX = 999_999_999;

const hashSchema = countSchema({ min: 0, max: HASH_MAX });

const setSchema = v.pipe(
  v.string(),
  v.regex(/^(nodes|daemonsets|(pods|revisions)\/[A-Za-z0-9._:-]{1,128})$/),
);

const membershipsSchema = v.pipe(
  v.array(v.strictObject({ set: setSchema, hash: hashSchema })),
  v.maxLength(ITEMS_MAX),
);

const deltaSchema = v.strictObject({
  of: watchedKindSchema,
  uid: uidSchema,
  name: objectNameSchema,
  namespace: v.optional(namespaceSchema),
  object: v.nullable(projectionSchema),
  sets: membershipsSchema,
  formerSets: membershipsSchema,
});

function perKind<const Field extends v.GenericSchema>(
  field: Field,
): Record<'Node' | 'Pod' | 'DaemonSet' | 'ControllerRevision', Field> {
  return { Node: field, Pod: field, DaemonSet: field, ControllerRevision: field };
}

const cutSchema = v.strictObject({
  marks: v.strictObject(perKind(v.optional(versionSchema))),
  hashes: v.strictObject(perKind(hashSchema)),
  silentMs: v.strictObject(perKind(v.optional(timeSchema))),
});

const sliceCountSchema = v.picklist([1, 4, 16]);

const announcementSchema = v.strictObject({
  kind: v.literal('announcement'),
  sliceCount: sliceCountSchema,
  reason: v.picklist(['start', 'periodic', 'requested', 'threshold', 'restored', 'refused-body']),
  requestId: v.optional(tokenSchema),
  standsBy: v.optional(textSchema(/^[\x21-\x7e]{1,256}$/)),
});

const keySchema = v.strictObject({ namespace: namespaceSchema, name: objectNameSchema });

const affectedSchema = v.strictObject({
  rules: countSchema({ min: 0, max: RULES_MAX }),
  keys: v.pipe(v.array(keySchema), v.maxLength(AFFECTED_KEYS_MAX)),
});

const changesSchema = v.strictObject({
  kind: v.literal('changes'),
  deltas: v.pipe(v.array(deltaSchema), v.maxLength(ITEMS_MAX)),
  affected: v.optional(affectedSchema),
  begun: v.optional(v.pipe(v.array(setSchema), v.maxLength(ITEMS_MAX))),
  cut: v.optional(cutSchema),
});

/** `<namespace>/<name>`. */
const nameKeySchema = textSchema(/^[a-z0-9][a-z0-9-]{0,62}\/[a-z0-9][a-z0-9.-]{0,252}$/);

const sliceSchema = v.strictObject({
  set: setSchema,
  index: countSchema({ min: 0, max: SLICE_INDEX_MAX }),
  covers: v.optional(
    v.strictObject({ after: v.optional(nameKeySchema), upTo: v.optional(nameKeySchema) }),
  ),
  objects: v.pipe(
    v.array(v.strictObject({ object: projectionSchema, hash: hashSchema })),
    v.maxLength(ITEMS_MAX),
  ),
});

const slicesSchema = v.strictObject({
  kind: v.literal('slices'),
  slices: v.pipe(v.array(sliceSchema), v.maxLength(ITEMS_MAX)),
});

const manifestSchema = v.strictObject({
  kind: v.literal('manifest'),
  announcedSeq: countSchema({ min: 1, max: SEQ_MAX }),
  sliceCount: sliceCountSchema,
  cut: cutSchema,
});

/** Body of a message, once decompressed. */
export const bodySchema = v.variant('kind', [
  changesSchema,
  slicesSchema,
  announcementSchema,
  manifestSchema,
]);

/** Fields of the header, one by one: a refused message still tells what can be told. */
export const headerFields = {
  cluster: clusterIdSchema,
  clusterUid: uidSchema,
  epoch: versionSchema,
  incarnation: tokenSchema,
  seq: countSchema({ min: 1, max: SEQ_MAX }),
};

/** The envelope: header and payload. */
export const envelopeSchema = v.strictObject({
  schema: v.literal(MESSAGE_SCHEMA),
  ...headerFields,
  payload: v.pipe(v.string(), v.regex(/^[jz]/)),
});
