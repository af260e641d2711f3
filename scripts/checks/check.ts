/**
 * What a static check is: a name and a function from a directory to a judgement.
 *
 * The directory is a parameter so that the canaries can point the very same check at a planted violation. A check
 * reads files and runs tools; it changes nothing but caches. Assumes the tools of this repository's node_modules.
 */

/** The outcome of one check; `report` is what a person needs in order to fix it, and may be empty when it passed. */
export interface CheckResult {
  readonly passed: boolean;
  readonly report: string;
}

/** One static check over all files below a directory. */
export interface Check {
  readonly name: string;
  readonly run: (directory: string) => Promise<CheckResult>;
}

/** Violations planted for one check: paths and texts in an otherwise clean project, and what its report must say about them. */
export interface Canary {
  readonly check: string;
  /** A path that exists already is replaced. */
  readonly files: Readonly<Record<string, string>>;
  /** Tried on the report without colours. */
  readonly expected: readonly RegExp[];
  /** False where the plant breaks a configuration, so that clean files are rightly reported as well. */
  readonly isCleanSpared?: boolean;
}
