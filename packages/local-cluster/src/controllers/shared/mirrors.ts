/**
 * Mirrors of the collections, shared by all controllers: one list and watch for each resource, however many look.
 *
 * A listener that comes late is told of everything that exists as ADDED first. Listeners run inside the watch's
 * callback: they take notes and add keys to queues, and never throw or call the API.
 */
import type { LocalClient, ObservedChange, Observation } from '../../client/local-client.ts';
import type { ApiObject, ResourceName } from '../../objects/api-object.ts';
import { keyOf, nodeNameOf } from './object-views.ts';

/** Told of each change, in order. */
export type MirrorListener = (change: ObservedChange) => void;

/** The mirror of one collection. */
export interface Mirror {
  readonly get: (name: string, namespace?: string) => ApiObject | undefined;
  readonly list: () => Iterable<ApiObject>;
  readonly subscribe: (listener: MirrorListener) => void;
}

/** All mirrors. */
export interface Mirrors {
  /** The mirror of a collection; opened when first asked for. */
  readonly of: (resource: ResourceName) => Mirror;
  /** Ends the mirror of a collection that is no longer served; nothing is told any more. */
  readonly close: (resource: ResourceName) => void;
  readonly stop: () => void;
}

/** Makes them; nothing is observed yet. */
export function createMirrors(client: LocalClient): Mirrors {
  const mirrors = new Map<ResourceName, { readonly mirror: Mirror; readonly stop: () => void }>();
  return {
    of: (resource) => {
      let opened = mirrors.get(resource);
      if (opened === undefined) {
        opened = openMirror(client, resource);
        mirrors.set(resource, opened);
      }
      return opened.mirror;
    },
    close: (resource) => {
      mirrors.get(resource)?.stop();
      mirrors.delete(resource);
    },
    stop: () => {
      for (const { stop } of mirrors.values()) stop();
      mirrors.clear();
    },
  };
}

function openMirror(
  client: LocalClient,
  resource: ResourceName,
): { readonly mirror: Mirror; readonly stop: () => void } {
  const listeners: MirrorListener[] = [];
  const observation: Observation = client.observe({ resource }, (change) => {
    for (const listener of listeners) listener(change);
  });
  const mirror: Mirror = {
    get: observation.get,
    list: observation.list,
    subscribe: (listener) => {
      for (const object of observation.list()) listener({ type: 'ADDED', object });
      listeners.push(listener);
    },
  };
  return { mirror, stop: observation.stop };
}

/** The pods of each node, so that no controller scans all pods for one node; unbound pods are in no node's set. */
export interface PodsByNode {
  readonly podsOn: (nodeName: string) => readonly ApiObject[];
}

/** Builds the index and keeps it. */
export function createPodsByNode(mirrors: Mirrors): PodsByNode {
  const podsByNode = new Map<string, Map<string, ApiObject>>();
  const forget = (pod: ApiObject): void => {
    const nodeName = nodeNameOf(pod);
    if (nodeName === undefined) return;
    const pods = podsByNode.get(nodeName);
    pods?.delete(keyOf(pod));
    if (pods?.size === 0) podsByNode.delete(nodeName);
  };
  mirrors.of('pods').subscribe(({ type, object, previous }) => {
    // A name may be used again elsewhere.
    if (previous !== undefined) forget(previous);
    forget(object);
    const nodeName = nodeNameOf(object);
    if (type === 'DELETED' || nodeName === undefined) return;
    const pods = podsByNode.get(nodeName) ?? new Map<string, ApiObject>();
    pods.set(keyOf(object), object);
    podsByNode.set(nodeName, pods);
  });
  return { podsOn: (nodeName) => [...(podsByNode.get(nodeName)?.values() ?? [])] };
}
