/**
 * Bodies of messages that are refused: why, and for which field (faults row 67); and the parser of all small ones.
 *
 * Nothing here throws or repeats a value: what stands in the place of a sealed token may be a token (S11). A path may
 * end in a key that the sender chose, by whose very name a closed schema refuses it: such a key appears as `?` unless
 * it looks like a field, and the whole is bounded.
 */
import * as v from 'valibot';

/** Why the body of a message was refused; public, listed in docs/reference/codes.md. */
export type MessageRefusalCode =
  /** It is no JSON, or its payload cannot be decompressed. */
  | 'undecodable'
  /** It is larger than 1 MiB, or than 8 MiB decompressed, or nested deeper than any message. */
  | 'oversized'
  /** Another release wrote it. Update the watcher or the functions. */
  | 'unsupported-schema'
  /** A field is missing, unknown or out of bounds; `field` names it. */
  | 'invalid';

/** A refused body. */
export interface RefusedBody {
  readonly kind: 'refused';
  readonly code: MessageRefusalCode;
  /** Dotted path of what was refused; empty for the whole. */
  readonly field: string;
}

const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/;
const SEGMENTS_MAX = 16;

/** Dotted path of what an issue is about; empty for the whole. */
export function refusedField(issue: v.BaseIssue<unknown>): string {
  const path = issue.path ?? [];
  const segments = path.slice(0, SEGMENTS_MAX).map(({ key }) => {
    const text = typeof key === 'string' || typeof key === 'number' ? String(key) : '?';
    return SEGMENT.test(text) ? text : '?';
  });
  return segments.join('.');
}

/** Parses a body of small plain JSON by a closed schema, whose version stands in its field `schema`. */
export function parseSmallBody<const Schema extends v.GenericSchema>(
  schema: Schema,
  body: string,
  lengthMax: number,
): { readonly kind: 'parsed'; readonly output: v.InferOutput<Schema> } | RefusedBody {
  const refuse = (code: MessageRefusalCode, field = ''): RefusedBody => ({
    kind: 'refused',
    code,
    field,
  });
  if (body.length > lengthMax) return refuse('oversized');
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The parser's message would quote the body.
    return refuse('undecodable');
  }
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) return { kind: 'parsed', output: parsed.output };
  const field = refusedField(parsed.issues[0]);
  const isOther = field === 'schema' && typeof parsed.issues[0].input === 'number';
  return refuse(isOther ? 'unsupported-schema' : 'invalid', field);
}
