/**
 * An object without the fields that are undefined: what is not known is not there, in JSON, in a stored item and
 * for `exactOptionalPropertyTypes` alike.
 *
 * Walks the fields, so it is not for what runs once a pod.
 */

type OptionalKey<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` with each field that may be undefined as one that may be missing. */
export type Defined<T> = Omit<T, OptionalKey<T>> & {
  readonly [K in OptionalKey<T>]?: Exclude<T[K], undefined>;
};

/** The fields that have a value; `null` is one. */
export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  // What the type says is what the filter did.
  return Object.fromEntries(entries) as Defined<T>;
}
