/**
 * The parts of a policy's schemas: closed objects, bounded lists, one of some words.
 *
 * Each says in its message what would be right, with an example, and never what was written.
 */
import * as v from 'valibot';
import { isFields } from './written-values.ts';

/** Values of a list, and requirements of a selector. */
export const VALUES_MAX = 100;
/** Rules, windows, names: more than any policy has. */
export const RULES_MAX = 16;

type Fields = Readonly<Record<string, unknown>>;
type Said = (issue: v.BaseIssue<unknown>) => string;

type Closed<TEntries extends v.ObjectEntries> = v.SchemaWithPipe<
  readonly [v.CustomSchema<Fields, string>, v.StrictObjectSchema<TEntries, Said>]
>;

/** By its values alone: the compiler would write out the whole schema of schemas. */
type Needed<TSchema extends v.GenericSchema> = v.GenericSchema<
  v.InferInput<TSchema>,
  v.InferOutput<TSchema>
>;

/** A field that has to be there, and what the published schema says of it. */
export function needed<const TSchema extends v.GenericSchema>(
  schema: TSchema,
  description: string,
  example: unknown,
): Needed<TSchema> {
  return v.pipe(schema, v.metadata({ description, examples: [example] }));
}

/** The same of a field that may be left out; it is `byDefault` then, as in a file. */
export function field<
  const TSchema extends v.GenericSchema,
  TDefault extends v.InferInput<TSchema> | undefined = undefined,
>(
  schema: TSchema,
  description: string,
  ...[example, byDefault]: readonly [example: unknown, byDefault?: TDefault]
): v.ExactOptionalSchema<Needed<TSchema>, TDefault> {
  return v.exactOptional(needed(schema, description, example), byDefault as TDefault);
}

/**
 * An object with these fields and no others. Of unknown fields its message holds the known ones, with commas between:
 * problems.ts makes a problem of each.
 */
export function closed<const TEntries extends v.ObjectEntries>(
  example: string,
  entries: TEntries,
): Closed<TEntries> {
  const message = `must be fields, as ${example}`;
  return v.pipe(
    v.custom<Fields, string>(isFields, message),
    v.strictObject(entries, ({ expected }) =>
      expected === 'never' ? Object.keys(entries).join() : message,
    ),
  );
}

/** A list of at most so many. */
export function listOf<const TItem extends v.GenericSchema>(
  item: TItem,
  countMax: number,
  example: string,
): v.GenericSchema<v.InferInput<TItem>[], v.InferOutput<TItem>[]> {
  const message = `must be a list of at most ${String(countMax)}, as ${example}`;
  return v.pipe(v.array(item, message), v.maxLength(countMax, message));
}

/** One of these words. */
export function oneOf<const TWords extends readonly string[]>(
  ...words: TWords
): v.PicklistSchema<TWords, string> {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}
