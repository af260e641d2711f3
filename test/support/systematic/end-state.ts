/**
 * What a world came to, comparable between a run with a fault and one without (faults row 5).
 *
 * Masked: UIDs, versions, times, names of pods, hashes and names of revisions: which of a node's names
 * was free, and whether an ended DaemonSet's revision was still there, may depend on what failed. Revisions go by
 * their numbers. Everything else must be equal: labels, images, owners, phases, status, revisions and
 * their numbers, what the view says of each object, and that no intent is left open.
 */
import { canonicalJson, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { Slice } from '../../../src/core/model/view-items.ts';
import { nodeOf } from '../simulated-cluster.ts';
import type { World } from '../simulation/world.ts';

/** What was made and what ended on the API server, over a world's whole life. */
export interface Counts {
  readonly podsMade: number;
  readonly podsEnded: number;
  readonly revisionsMade: number;
  readonly revisionsEnded: number;
}

export interface EndState {
  /** One line for each object; equal lines are equal objects. */
  readonly lines: readonly string[];
  readonly counts: Counts;
}

const MASKED = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'lastTransitionTime',
  'startTime',
  'collisionCount',
]);

export function endStateOf(world: World): EndState {
  const kinds = ['nodes', 'daemonsets', 'pods', 'controllerrevisions'] as const;
  const objects = kinds.flatMap((kind) =>
    world.api.list(kind).map((object) => lineOf(world, kind, object)),
  );
  return { lines: [...objects.sort(), ...tableLines(world)], counts: countsOf(world) };
}

/** Creations and ends so far. */
export function countsOf(world: World): Counts {
  const count = (kind: string, type: string): number =>
    world.api.history.filter((commit) => commit.kind === kind && commit.type === type).length;
  return {
    podsMade: count('pods', 'added'),
    podsEnded: count('pods', 'deleted'),
    revisionsMade: count('controllerrevisions', 'added'),
    revisionsEnded: count('controllerrevisions', 'deleted'),
  };
}

function lineOf(world: World, kind: string, object: KubernetesObject): string {
  const owners = (object.metadata.ownerReferences ?? []).map(({ uid }) => ownerText(world, uid));
  const { metadata, ...rest } = object;
  const { name: _, ...named } = metadata;
  const body = mask({ metadata: named, ...rest } as unknown as Json); // objects are raw JSON
  const text = `${placeText(kind, object)} of ${owners.join(', ')}: ${canonicalJson(body)}`;
  return hashesOf(world).reduce((line, [hash, number]) => line.replaceAll(hash, number), text);
}

function placeText(kind: string, object: KubernetesObject): string {
  return kind === 'pods' ? `pod on ${nodeOf(object) ?? '?'}` : `${kind} ${object.metadata.name}`;
}

/** The hash of each revision, and what is said instead. */
function hashesOf(world: World): readonly (readonly [string, string])[] {
  return world.api.list('controllerrevisions').map((revision) => {
    const hash = revision.metadata.labels?.['controller-revision-hash'] ?? 'none';
    return [hash, `revision-${String(revision['revision'])}`];
  });
}

function ownerText(world: World, uid: string): string {
  const owner = world.api.list('daemonsets').find((set) => set.metadata.uid === uid);
  return owner?.metadata.name ?? 'nobody';
}

function mask(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => mask(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value as JsonObject).filter(([name]) => !MASKED.has(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, mask(item ?? null)]));
}

/** The view must hold exactly the live objects, and no state an open intent. */
function tableLines(world: World): readonly string[] {
  const lines: string[] = [];
  const kinds = ['nodes', 'pods', 'controllerrevisions'] as const;
  const live = new Set(
    kinds.flatMap((kind) => world.api.list(kind)).map(({ metadata }) => metadata.uid),
  );
  const seen = new Set<string>();
  for (const [key, item] of Object.entries(world.view.dump())) {
    if (key.startsWith('SLICE ')) {
      for (const { object } of (item as Slice).objects) seen.add(object.uid);
    }
    if (key.startsWith('STATE ')) lines.push(...stateLines(world, key, item as DaemonSetState));
  }
  for (const uid of live) if (!seen.has(uid)) lines.push(`view lacks ${uid}`);
  for (const uid of seen) if (!live.has(uid)) lines.push(`view still has ${uid}`);
  return lines;
}

function stateLines(world: World, key: string, state: DaemonSetState): readonly string[] {
  const sets = world.api.list('daemonsets');
  const owner = sets.find(({ metadata }) => key.endsWith(` ${metadata.uid}`));
  if (owner === undefined) return [];
  return state.intents.map(
    ({ kind, name }) => `${owner.metadata.name} has an open ${kind} of ${name}`,
  );
}
