/**
 * The shape of a canary: violations planted for one check, and what its report must say about them.
 *
 * Files are paths and texts in an otherwise clean project; a path that exists already is replaced. Patterns are tried
 * on the report without colours.
 */

/** Planted violations. */
export interface Canary {
  readonly check: string;
  readonly files: Readonly<Record<string, string>>;
  readonly expected: readonly RegExp[];
  /** False where the plant breaks a configuration, so that clean files are rightly reported as well. */
  readonly isCleanSpared?: boolean;
}
