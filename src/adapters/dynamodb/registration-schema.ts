/**
 * The closed, bounded schemas of registrations and freezes (S12): registry data can neither execute
 * code nor choose egress beyond its endpoint. Checked before a write and after a read. Only names of
 * fields leave this module, never values (S11); a freeze that does not fit counts as frozen.
 */
import * as v from 'valibot';
import { clusterId, clusterUid, uid } from '../../core/model/identifiers.ts';
import { BY_CHARACTERS_MAX, FREEZE_WHY_CHARACTERS_MAX } from '../../core/model/registration.ts';
import {
  START_UP_CONDITION,
  START_UP_WAIT_MAX_MS,
  TAINT_KEY,
} from '../../core/start-up/start-up-taint.ts';
import type { ClusterRegistration, FreezeNote } from '../../core/model/registration.ts';
import { STOPS_MAX } from '../../core/status/outages.ts';
import { FROZEN_DAEMON_SETS_MAX } from '../../core/may-act/freeze.ts';

const text = (pattern: RegExp) => v.pipe(v.string(), v.regex(pattern));
const shortText = (charactersMax: number) => v.pipe(v.string(), v.maxLength(charactersMax));
/** A text for one line of a terminal or of a log. */
const line = (charactersMax: number) => v.pipe(shortText(charactersMax), v.regex(/^[^\p{Cc}]*$/u));

/** A chain of a few certificates, or a bundle; printable, so that it cannot be anything else. */
const pemSchema = text(/^[\t\n\r\x20-\x7e]{0,65536}$/);
/** Of service accounts and of OpenID Connect, with room. */
const TOKEN_CHARACTERS_MAX = 16_384;
const URL_CHARACTERS_MAX = 2048;
const EVIDENCE_CHARACTERS_MAX = 4096;
const LABELS_MAX = 64;
const LABEL_KEY = /^(?!__proto__$)[A-Za-z0-9]([A-Za-z0-9._/-]{0,315}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^[A-Za-z0-9._-]{0,63}$/;
const RANGES_MAX = 16;

const timeSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const versionSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const freezeNoteSchema = v.strictObject({
  by: line(BY_CHARACTERS_MAX),
  why: line(FREEZE_WHY_CHARACTERS_MAX),
  atMs: timeSchema,
});

function isLabelMap(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= LABELS_MAX &&
    entries.every(
      ([key, label]) => LABEL_KEY.test(key) && typeof label === 'string' && LABEL_VALUE.test(label),
    )
  );
}

const AuthenticationSchema = v.variant('kind', [
  v.strictObject({ kind: v.literal('none') }),
  v.strictObject({ kind: v.literal('bearer'), token: shortText(TOKEN_CHARACTERS_MAX) }),
  v.strictObject({
    kind: v.literal('client-certificate'),
    certificatePem: pemSchema,
    keyPem: pemSchema,
  }),
  v.strictObject({
    kind: v.literal('eks'),
    clusterName: text(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/),
    region: text(/^[a-z0-9-]{1,32}$/),
  }),
  v.strictObject({ kind: v.literal('bound-token'), renewerRoleId: text(/^[A-Za-z0-9]{1,128}$/) }),
]);

const startUpSchema = v.strictObject({
  taint: v.strictObject({
    key: text(TAINT_KEY),
    value: v.exactOptional(text(LABEL_VALUE)),
    effect: v.picklist(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  }),
  condition: v.exactOptional(text(START_UP_CONDITION)),
  counts: v.picklist(['labelled', 'all']),
  waitBoundMs: v.pipe(timeSchema, v.minValue(1), v.maxValue(START_UP_WAIT_MAX_MS)),
});

const RegistrationSchema = v.strictObject({
  // As in a watcher's message: the id is also a message group.
  id: v.pipe(text(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), v.transform(clusterId)),
  clusterUid: v.pipe(text(/^[A-Za-z0-9._:-]{1,128}$/), v.transform(clusterUid)),
  mode: v.picklist(['observe', 'copilot', 'takeover']),
  isFrozen: v.boolean(),
  frozen: v.exactOptional(freezeNoteSchema),
  configVersion: versionSchema,
  senderRoleId: text(/^[A-Za-z0-9]{1,128}$/),
  server: shortText(URL_CHARACTERS_MAX),
  caPem: v.exactOptional(pemSchema),
  egress: v.exactOptional(
    v.strictObject({
      privateRanges: v.pipe(v.array(text(/^[0-9a-f.:]{2,39}\/\d{1,3}$/)), v.maxLength(RANGES_MAX)),
    }),
  ),
  authentication: AuthenticationSchema,
  // Checked in place: a library that copies a record leaves out the keys that it distrusts.
  labels: v.custom<Readonly<Record<string, string>>>(isLabelMap),
  startUp: v.exactOptional(startUpSchema),
  takeoverProbedAtMs: v.exactOptional(timeSchema),
  sentinel: v.exactOptional(
    v.strictObject({
      uid: v.pipe(text(/^[A-Za-z0-9._:-]{1,128}$/), v.transform(uid)),
      createdAtMs: timeSchema,
    }),
  ),
  rival: v.exactOptional(
    v.strictObject({ seenAtMs: timeSchema, evidence: shortText(EVIDENCE_CHARACTERS_MAX) }),
  ),
});

export type ParsedRegistration =
  | { readonly kind: 'registration'; readonly registration: ClusterRegistration }
  | {
      readonly kind: 'refused';
      /** Names of the fields that do not fit; `?` for one that is not a field at all. */
      readonly fields: readonly string[];
    };

const FIELD_NAME = /^[A-Za-z0-9]{1,64}$/;

function fieldOf(issue: v.BaseIssue<unknown>): string {
  const segments = (issue.path ?? []).map(({ key }) => String(key));
  return segments.map((segment) => (FIELD_NAME.test(segment) ? segment : '?')).join('.');
}

const FIELDS_MAX = 20;

/** Checks what may be a registration. Never throws, never repeats a value. */
export function parseRegistration(candidate: unknown): ParsedRegistration {
  const parsed = v.safeParse(RegistrationSchema, candidate);
  if (parsed.success) return { kind: 'registration', registration: parsed.output };
  const fields = [...new Set(parsed.issues.map(fieldOf))].slice(0, FIELDS_MAX);
  return { kind: 'refused', fields };
}

/** As names in Kubernetes are; `__proto__` is none. */
const DAEMON_SET_KEY = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const StopNoteSchema = v.strictObject({
  ...freezeNoteSchema.entries,
  functions: v.pipe(v.array(line(64)), v.maxLength(20)),
});

/** A valid note of a stop, or undefined. Never throws. */
export function parseStopNote(
  candidate: unknown,
): v.InferOutput<typeof StopNoteSchema> | undefined {
  const parsed = v.safeParse(StopNoteSchema, candidate);
  return parsed.success ? parsed.output : undefined;
}

const stopMomentSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const StopsSchema = v.pipe(
  v.array(v.strictTuple([stopMomentSchema, stopMomentSchema])),
  v.maxLength(STOPS_MAX),
);

/** Valid notes of stops that are over, or undefined. Never throws. */
export function parseStops(candidate: unknown): v.InferOutput<typeof StopsSchema> | undefined {
  const parsed = v.safeParse(StopsSchema, candidate);
  return parsed.success ? parsed.output : undefined;
}

const FreezeSchema = v.strictObject({
  version: versionSchema,
  all: v.exactOptional(freezeNoteSchema),
  daemonSets: v.pipe(
    v.record(v.pipe(v.string(), v.regex(DAEMON_SET_KEY)), freezeNoteSchema),
    v.check((notes: Readonly<Record<string, FreezeNote>>) => {
      return Object.keys(notes).length <= FROZEN_DAEMON_SETS_MAX;
    }),
  ),
});

/** A valid item of the stack, or undefined. Never throws. */
export function parseFreeze(candidate: unknown): v.InferOutput<typeof FreezeSchema> | undefined {
  const parsed = v.safeParse(FreezeSchema, candidate);
  return parsed.success ? parsed.output : undefined;
}
