/**
 * What is frozen for the whole stack, besides single clusters (registration.isFrozen): everything, or DaemonSets by name (issue 18).
 *
 * One small item in the registry's table, so that each freeze is one conditional write. Runs read it with the registration, and once more
 * before each batch of effects: a freeze is one batch late at most. Only a thaw ends one.
 */

/** Who froze it, and why. */
export interface FreezeNote {
  readonly by: string;
  /** In the operator's words, 256 characters at most; empty: none were given. */
  readonly why: string;
  readonly atMs: number;
}

/** What is frozen. */
export interface Freeze {
  /** Compare-and-set counter; 0: there is no item. */
  readonly version: number;
  /** Every cluster and every DaemonSet of the stack. */
  readonly all?: FreezeNote;
  /** By `namespace/name`, in every cluster; 100 at most. */
  readonly daemonSets: Readonly<Record<string, FreezeNote>>;
}

/** Nothing. */
export const NO_FREEZE: Freeze = { version: 0, daemonSets: {} };

/** The note under which a DaemonSet may not be touched; undefined: it may. */
export function freezeOf(
  freeze: Freeze,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): FreezeNote | undefined {
  const key = `${namespace}/${name}`;
  return freeze.all ?? (Object.hasOwn(freeze.daemonSets, key) ? freeze.daemonSets[key] : undefined);
}
