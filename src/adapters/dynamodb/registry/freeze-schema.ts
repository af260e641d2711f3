/**
 * The closed, bounded schemas of freezes as the registry holds them: of the stack's item, and of
 * the note in a registration. An item that does not fit is an error, and so counts as frozen
 * (protocol 13): never a default.
 */
import * as v from 'valibot';
import { BY_CHARACTERS_MAX, FREEZE_WHY_CHARACTERS_MAX } from '../../../core/model/registration.ts';
import type { FreezeNote } from '../../../core/model/registration.ts';
import { FROZEN_DAEMON_SETS_MAX } from '../../../core/takeover/freeze.ts';

/** What becomes one line of a terminal or of a log. */
const line = (charactersMax: number) =>
  v.pipe(v.string(), v.maxLength(charactersMax), v.regex(/^[^\p{Cc}]*$/u));
const timeSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** Who froze something, and why. */
export const FreezeNoteSchema = v.strictObject({
  by: line(BY_CHARACTERS_MAX),
  why: line(FREEZE_WHY_CHARACTERS_MAX),
  atMs: timeSchema,
});

/** As names in Kubernetes are; `__proto__` is none. */
const DAEMON_SET_KEY = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const StopNoteSchema = v.strictObject({
  ...FreezeNoteSchema.entries,
  functions: v.pipe(v.array(line(64)), v.maxLength(20)),
});

/** What fits the schema of the note of a stop, or undefined. Never throws. */
export function parseStopNote(
  candidate: unknown,
): v.InferOutput<typeof StopNoteSchema> | undefined {
  const parsed = v.safeParse(StopNoteSchema, candidate);
  return parsed.success ? parsed.output : undefined;
}

const FreezeSchema = v.strictObject({
  version: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  all: v.exactOptional(FreezeNoteSchema),
  daemonSets: v.pipe(
    v.record(v.pipe(v.string(), v.regex(DAEMON_SET_KEY)), FreezeNoteSchema),
    v.check((notes: Readonly<Record<string, FreezeNote>>) => {
      return Object.keys(notes).length <= FROZEN_DAEMON_SETS_MAX;
    }),
  ),
});

/** What fits the schema of the stack's item, or undefined. Never throws. */
export function parseFreeze(candidate: unknown): v.InferOutput<typeof FreezeSchema> | undefined {
  const parsed = v.safeParse(FreezeSchema, candidate);
  return parsed.success ? parsed.output : undefined;
}
