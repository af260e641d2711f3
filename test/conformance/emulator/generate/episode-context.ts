/**
 * What the builders of steps share within one episode: seeded choices, names, and how a step begins.
 *
 * Names come from a small pool, so that requests meet objects, and each other. Every cluster-scoped name carries the
 * episode's prefix, and so do the namespaces: episodes do not touch each other's objects.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Seeded } from '../../scenarios/seeded.ts';
import { bodiesOf } from '../bodies/all.ts';
import type { Identity } from '../bodies/body.ts';
import { objectKey, type Change, type Step } from '../step.ts';
import { pathOf, type Collection } from '../surface.ts';

/** A step that has no number yet. */
export type Draft = Omit<Step, 'id' | 'verb' | 'resource'> & {
  readonly resource?: string;
};

/** Makes the steps of one verb; a later one may refer to an earlier one as `nextId + index`. */
export type StepBuilder = (context: EpisodeContext, collection: Collection) => readonly Draft[];

export interface Place {
  readonly collection: Collection;
  readonly identity: Identity;
  readonly key: string;
}

export interface EpisodeContext {
  readonly seeded: Seeded;
  readonly prefix: string;
  /** The number that the first step of this builder will have. */
  readonly nextId: number;
}

const NAMES = ['one', 'two', 'three'] as const;

/** A namespace of the episode; now and then one that does not exist. */
function pickNamespace({ seeded, prefix }: EpisodeContext): string {
  const chance = seeded.next();
  if (chance < 0.65) return `${prefix}-a`;
  if (chance < 0.96) return `${prefix}-b`;
  return `${prefix}-absent`;
}

/** An object from the pool, whether it exists or not. */
export function pickPlace(context: EpisodeContext, collection: Collection): Place {
  const { seeded, prefix } = context;
  const short = seeded.pick(NAMES);
  const namespace = collection.isNamespaced ? pickNamespace(context) : undefined;
  const name = collection.isNamespaced ? short : `${prefix}-${short}`;
  return placeOf(collection, { prefix, name, ...(namespace === undefined ? {} : { namespace }) });
}

function placeOf(collection: Collection, identity: Identity): Place {
  const key = objectKey({ plural: collection.plural, ...identity });
  return { collection, identity, key };
}

/** Path of the place, or of a subresource. */
export function objectPath({ collection, identity }: Place, subresource?: string): string {
  return pathOf(collection, {
    name: identity.name,
    ...(identity.namespace === undefined ? {} : { namespace: identity.namespace }),
    ...(subresource === undefined ? {} : { subresource }),
  });
}

/** Path of the collection that the place is in. */
export function collectionPathOf({ collection, identity }: Place): string {
  return pathOf(
    collection,
    identity.namespace === undefined ? {} : { namespace: identity.namespace },
  );
}

export function makeBody({ seeded }: EpisodeContext, { collection, identity }: Place): JsonObject {
  return bodiesOf(collection.plural).make(seeded, identity);
}

/** Up to `countMax` changes, of a new object, of a stored one, or of its status. */
export function pickChanges(
  { seeded, prefix }: EpisodeContext,
  { collection }: Pick<Place, 'collection'>,
  options: { readonly countMax: number; readonly of: 'object' | 'update' | 'status' },
): Change[] {
  const bodies = bodiesOf(collection.plural);
  const { changes, updates = changes, statusChanges } = bodies;
  const table = { object: changes, update: updates, status: statusChanges }[options.of];
  const count = seeded.integer({ from: 1, to: options.countMax });
  return Array.from({ length: count }, () => personalised(seeded.pick(table), prefix));
}

/** Tables of changes say `@prefix` where the episode's own goes. */
function personalised(change: Change, prefix: string): Change {
  if (typeof change.value !== 'string') return change;
  return { path: change.path, value: change.value.replace('@prefix', prefix) };
}

/** Words on the changes, for people. */
export function describeChanges(changes: readonly Change[]): string {
  return changes
    .map(({ path, value }) => `${path}=${value === undefined ? 'removed' : shorten(value)}`)
    .join(', ');
}

function shorten(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
