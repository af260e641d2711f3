/**
 * How the bodies of one collection are made: a valid object, and changes that make it valid otherwise, or wrong in a way that
 * the local server looks at: of the wrong type, nameless, of an unknown member, …
 *
 * Changes are data, so that the same ones serve as creations, updates and the three kinds of patches.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Seeded } from '../../scenarios/seeded.ts';
import type { Change } from '../step.ts';

/** Whose body it is. */
export interface Identity {
  readonly name: string;
  readonly namespace?: string;
  /** Of the episode: the label that all its objects carry, and part of every cluster-scoped name. */
  readonly prefix: string;
}

export interface Bodies {
  readonly make: (seeded: Seeded, identity: Identity) => JsonObject;
  readonly changes: readonly Change[];
  /** What updates and patches change; default: the same as creations. */
  readonly updates?: readonly Change[];
  readonly statusChanges: readonly Change[];
}

/** Shorthand for tables of changes: `[path, value]`, `[path]` for a removal. */
export function changesOf(entries: readonly (readonly [string, Json?])[]): Change[] {
  return entries.map(([path, value]) => ({ path, value }));
}

/** Members that are there with the given chance each. */
export function sometimes(
  seeded: Seeded,
  chance: number,
  members: Readonly<Record<string, Json>>,
): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(() => seeded.next() < chance));
}

export function makeMetadata(seeded: Seeded, { name, namespace, prefix }: Identity): JsonObject {
  return {
    name,
    ...(namespace !== undefined && seeded.next() < 0.5 ? { namespace } : {}),
    labels: { emulator: prefix, tier: seeded.pick(['front', 'back']) },
    ...sometimes(seeded, 0.2, {
      annotations: { 'example.com/note': 'a note' },
      finalizers: ['example.com/hold'],
    }),
  };
}

/** Changes that any object of a namespaced or cluster-scoped collection may get. */
export const METADATA_CHANGES = changesOf([
  ['metadata.labels.tier', 'middle'],
  ['metadata.labels.tier'],
  ['metadata.labels.tier', ''],
  ['metadata.labels.tier', 'not a label value!'],
  ['metadata.labels.tier', 7],
  ['metadata.labels.[bad key/with/slashes]', 'x'],
  ['metadata.labels.[-starts-with-dash]', 'x'],
  ['metadata.labels', {}],
  ['metadata.labels', null],
  ['metadata.labels', ['list']],
  ['metadata.annotations.[example.com/note]', 'changed'],
  ['metadata.annotations.[example.com/note]', ''],
  ['metadata.annotations.[Example.com/_bad_]', 'x'],
  ['metadata.annotations', { 'example.com/flag': true }],
  ['metadata.finalizers', ['example.com/hold']],
  ['metadata.finalizers', ['example.com/hold', 'example.com/second']],
  ['metadata.finalizers', []],
  ['metadata.finalizers', ['Bad/Finalizer/Name']],
  ['metadata.finalizers'],
  [
    'metadata.ownerReferences',
    [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'one', uid: 'owner-1', controller: true }],
  ],
  [
    'metadata.ownerReferences',
    [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'one', uid: 'owner-1', controller: true },
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'two', uid: 'owner-2', controller: true },
    ],
  ],
  ['metadata.ownerReferences', [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'one' }]],
  ['metadata.name', '@prefix-other'],
  ['metadata.name', ''],
  ['metadata.name', 'UPPER'],
  ['metadata.name', 'with space'],
  ['metadata.name', 'with/slash'],
  ['metadata.name', '@prefix.dots.are.fine'],
  ['metadata.name', `long-${'x'.repeat(250)}`],
  ['metadata.name', 17],
  ['metadata.namespace', 'default'],
  ['metadata.uid', '11111111-2222-4333-8444-555555555555'],
  ['metadata.resourceVersion', '1'],
  ['metadata.generation', 42],
  ['metadata.creationTimestamp', '2001-01-01T00:00:00Z'],
  ['metadata.creationTimestamp', 'yesterday'],
  ['metadata.creationTimestamp', null],
  ['metadata.unknownMember', 'x'],
  ['metadata', null],
  ['metadata', 'text'],
  ['apiVersion', 'v2'],
  ['apiVersion', 'example.com/v1'],
  ['kind', 'Something'],
  ['kind'],
  ['kind', 5],
  ['unknownMember', { nested: true }],
  ['spec', null],
  ['spec', 'text'],
  ['status', null],
]);
