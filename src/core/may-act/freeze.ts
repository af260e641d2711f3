/**
 * What is frozen for the whole stack, besides single clusters (registration.isFrozen): everything, or
 * DaemonSets by name.
 *
 * One small item in the registry's table, so that each freeze is one conditional write. Runs read it with the registration, and once more
 * before each batch of effects: a freeze is one batch late at most. Only a thaw ends one.
 */
import type { ClusterId } from '../model/identifiers.ts';
import { BY_CHARACTERS_MAX, FREEZE_WHY_CHARACTERS_MAX } from '../model/registration.ts';
import type { FreezeNote } from '../model/registration.ts';

export type { FreezeNote } from '../model/registration.ts';

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
  return freeze.all ?? noteOfScope(freeze, { kind: 'daemon-set', namespace, name });
}

/** DaemonSets that are frozen by name at most: the item is read by every run of the stack. */
export const FROZEN_DAEMON_SETS_MAX = 100;

/** What a freeze is about; a cluster's own stands in its registration. */
export type FreezeScope = StackScope | { readonly kind: 'cluster'; readonly id: ClusterId };

/** What stands in the stack's item. */
export type StackScope =
  | { readonly kind: 'stack' }
  | { readonly kind: 'daemon-set'; readonly namespace: string; readonly name: string };

/** The freeze that holds a DaemonSet of one cluster, the widest first. */
export interface StandingFreeze {
  readonly scope: FreezeScope['kind'];
  /** Absent: a release that noted no name froze the cluster. */
  readonly note?: FreezeNote;
}

/** The same of the stack's item alone; of the cluster's registration guardOfRegistration knows. */
export function standingFreeze(
  freeze: Freeze,
  key: { readonly namespace: string; readonly name: string },
): StandingFreeze | undefined {
  const note = freezeOf(freeze, key);
  if (note === undefined) return undefined;
  return { scope: freeze.all === undefined ? 'daemon-set' : 'stack', note };
}

/** The note of a scope itself, whatever else is frozen. */
export function noteOfScope(freeze: Freeze, scope: StackScope): FreezeNote | undefined {
  if (scope.kind === 'stack') return freeze.all;
  const key = `${scope.namespace}/${scope.name}`;
  return Object.hasOwn(freeze.daemonSets, key) ? freeze.daemonSets[key] : undefined;
}

/**
 * The freeze with this scope in it. One that stands is kept as it is, with who froze first and why: freezing twice is freezing once.
 * `full`: as many DaemonSets are frozen by name as may be.
 */
export function withFreeze(freeze: Freeze, scope: StackScope, note: FreezeNote): Freeze | 'full' {
  if (noteOfScope(freeze, scope) !== undefined) return freeze;
  if (scope.kind === 'stack') return { ...freeze, all: note };
  if (Object.keys(freeze.daemonSets).length >= FROZEN_DAEMON_SETS_MAX) return 'full';
  const key = `${scope.namespace}/${scope.name}`;
  return { ...freeze, daemonSets: { ...freeze.daemonSets, [key]: note } };
}

/** The freeze without this scope; other scopes stay frozen. The very same where it was not frozen. */
export function withoutFreeze(freeze: Freeze, scope: StackScope): Freeze {
  if (noteOfScope(freeze, scope) === undefined) return freeze;
  if (scope.kind === 'stack') {
    const { all: _lifted, ...rest } = freeze;
    return rest;
  }
  const key = `${scope.namespace}/${scope.name}`;
  const kept = Object.entries(freeze.daemonSets).filter(([each]) => each !== key);
  return { ...freeze, daemonSets: Object.fromEntries(kept) };
}

/** A note that fits its bounds, whatever the names of machines and people are. */
export function freezeNote({ by, why, atMs }: FreezeNote): FreezeNote {
  const line = (text: string, charactersMax: number): string =>
    text.replaceAll(/\p{Cc}/gu, ' ').slice(0, charactersMax);
  return { by: line(by, BY_CHARACTERS_MAX), why: line(why, FREEZE_WHY_CHARACTERS_MAX), atMs };
}

const SUBJECTS: Readonly<Record<StandingFreeze['scope'], string>> = {
  stack: 'The whole stack',
  cluster: 'The cluster',
  'daemon-set': 'The DaemonSet',
};

/** Who froze what, and why, as the beginning of a sentence: `The cluster is frozen by ann (bad kernel)`. */
export function describeFreeze({ scope, note }: StandingFreeze): string {
  const by = note === undefined ? '' : ` by ${note.by}`;
  const why = note === undefined || note.why === '' ? '' : ` (${note.why})`;
  return `${SUBJECTS[scope]} is frozen${by}${why}`;
}
