/** What is left in a terminating namespace after a round of deletions. */

/** The sum of a round. */
export interface NamespaceContent {
  /** Objects left, by `plural.group` (`pods.` for the core group, as Kubernetes writes it). */
  readonly remaining: ReadonlyMap<string, number>;
  /** Objects held by each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Refused deletions, in words. */
  readonly failures: readonly string[];
}

/** True when nothing holds the namespace any more. */
export function isEmptied({ remaining, failures }: NamespaceContent): boolean {
  return remaining.size === 0 && failures.length === 0;
}
