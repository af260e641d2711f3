/**
 * What one cluster shows of the scenarios: pods, nodes, DaemonSets and ControllerRevisions as they are
 * sent, followed by watches of its own, and when something last changed at each place.
 *
 * Each kind has a stream of its own: a status may be seen before the pods that it counts.
 */
import { createApiClient } from '../conformance/control-plane/api.ts';
import type { ApiConnection, KubernetesObject } from '../conformance/control-plane/api.ts';
import { startWatch, type WatchEvent } from '../conformance/control-plane/watch.ts';
import { PLACE_LABEL, type Place } from './place.ts';

/** The kinds that are followed. */
export type MirroredKind = 'pods' | 'nodes' | 'daemonSets' | 'revisions';

export interface MirrorEvent {
  readonly kind: MirroredKind;
  readonly type: WatchEvent['type'];
  readonly object: KubernetesObject;
  /** What was known before it. */
  readonly before: KubernetesObject | undefined;
}

export interface Mirror {
  /** Objects of a place by kind. */
  readonly at: (place: Place) => Readonly<Record<MirroredKind, readonly KubernetesObject[]>>;
  /** When something last changed at a place, by performance.now(). */
  readonly changedAtMs: (place: Place) => number;
  /** Calls back for every change at a place; returns how to end it. */
  readonly follow: (place: Place, onEvent: (event: MirrorEvent) => void) => () => void;
  readonly stop: () => Promise<void>;
}

const PATHS: Readonly<Record<MirroredKind, string>> = {
  pods: '/api/v1/pods',
  nodes: '/api/v1/nodes',
  daemonSets: '/apis/apps/v1/daemonsets',
  revisions: '/apis/apps/v1/controllerrevisions',
};

const KINDS = Object.keys(PATHS) as readonly MirroredKind[];

interface PlaceSight {
  readonly objects: Record<MirroredKind, Map<string, KubernetesObject>>;
  readonly listeners: Set<(event: MirrorEvent) => void>;
  changedAtMs: number;
}

/** Starts to follow; resolves when what exists already has been seen. */
export async function startMirror(connection: ApiConnection): Promise<Mirror> {
  const client = createApiClient(connection);
  const sights = new Map<string, PlaceSight>();
  const sightOf = (id: string): PlaceSight => {
    const sight = sights.get(id) ?? newSight();
    sights.set(id, sight);
    return sight;
  };
  const note = (kind: MirroredKind, { type, object }: WatchEvent): void => {
    const id = placeIdOf(object);
    if (id === undefined) return;
    const sight = sightOf(id);
    const uid = object.metadata.uid ?? '';
    const before = sight.objects[kind].get(uid);
    if (type === 'DELETED') sight.objects[kind].delete(uid);
    else sight.objects[kind].set(uid, object);
    sight.changedAtMs = performance.now();
    for (const listener of sight.listeners) listener({ kind, type, object, before });
  };
  const watches = KINDS.map((kind) =>
    startWatch({
      client,
      path: PATHS[kind],
      onEvent: (event) => {
        note(kind, event);
      },
    }),
  );
  await Promise.all(watches.map((watch) => watch.listed));
  return {
    at: (place) => {
      const { objects } = sightOf(place.id);
      return {
        pods: [...objects.pods.values()],
        nodes: [...objects.nodes.values()],
        daemonSets: [...objects.daemonSets.values()],
        revisions: [...objects.revisions.values()],
      };
    },
    changedAtMs: (place) => sightOf(place.id).changedAtMs,
    follow: (place, onEvent) => {
      const { listeners } = sightOf(place.id);
      listeners.add(onEvent);
      return () => listeners.delete(onEvent);
    },
    stop: async () => {
      await Promise.all(watches.map((watch) => watch.stop()));
      client.close();
    },
  };
}

function newSight(): PlaceSight {
  return {
    objects: { pods: new Map(), nodes: new Map(), daemonSets: new Map(), revisions: new Map() },
    listeners: new Set(),
    changedAtMs: performance.now(),
  };
}

const NAMESPACE_PREFIX = 'differential-';

function placeIdOf({ metadata }: KubernetesObject): string | undefined {
  const { namespace } = metadata;
  if (namespace === undefined) return metadata.labels?.[PLACE_LABEL];
  return namespace.startsWith(NAMESPACE_PREFIX)
    ? namespace.slice(NAMESPACE_PREFIX.length)
    : undefined;
}
