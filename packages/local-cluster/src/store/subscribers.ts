/**
 * Who wants to hear of a change of one resource: found by index, so that a change of one pod costs its own node's agent
 * a call and the other 999 nothing.
 *
 * Each subscription stands in the narrowest index that it fits into; what else it asks for is checked at the change.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { nodeNameOf } from './pod-node.ts';
import type { StoreChange, Subscription } from './store.ts';

/** A running subscription. */
export interface Subscriber {
  readonly subscription: Subscription;
  /** Live changes up to this version are not for it: it has them, or gets them from the history. */
  readonly liveAfterVersion: bigint;
  isCancelled: boolean;
}

type Selector = 'name' | 'nodeName' | 'namespace';

/** The subscribers of one resource. */
export class Subscribers {
  readonly #ofAll = new Set<Subscriber>();
  readonly #by: Readonly<Record<Selector, Map<string, Set<Subscriber>>>> = {
    name: new Map(),
    nodeName: new Map(),
    namespace: new Map(),
  };

  add(subscriber: Subscriber): void {
    const place = placeOf(subscriber.subscription);
    if (place === undefined) {
      this.#ofAll.add(subscriber);
      return;
    }
    const index = this.#by[place.selector];
    const existing = index.get(place.value);
    if (existing === undefined) index.set(place.value, new Set([subscriber]));
    else existing.add(subscriber);
  }

  delete(subscriber: Subscriber): void {
    const place = placeOf(subscriber.subscription);
    if (place === undefined) {
      this.#ofAll.delete(subscriber);
      return;
    }
    const index = this.#by[place.selector];
    const existing = index.get(place.value);
    existing?.delete(subscriber);
    if (existing?.size === 0) index.delete(place.value);
  }

  /** Calls everyone who asked for this change and does not have it. They may subscribe and cancel meanwhile. */
  deliver(change: StoreChange): void {
    const { object, previous } = change;
    deliverTo(this.#ofAll, change);
    const { name, namespace } = object.metadata;
    if (namespace !== undefined) deliverTo(this.#by.namespace.get(namespace), change);
    deliverTo(this.#by.name.get(name), change);
    if (this.#by.nodeName.size === 0) return;
    const nodeName = nodeNameOf(object);
    if (nodeName !== undefined) deliverTo(this.#by.nodeName.get(nodeName), change);
    const nodeBefore = previous === undefined ? undefined : nodeNameOf(previous);
    if (nodeBefore === undefined || nodeBefore === nodeName) return;
    deliverTo(this.#by.nodeName.get(nodeBefore), change);
  }
}

/** Is this change one that the subscription asks for? */
export function isWanted(subscription: Subscription, change: StoreChange): boolean {
  const { namespace, name, nodeName } = subscription;
  const { object, previous } = change;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  if (name !== undefined && object.metadata.name !== name) return false;
  return nodeName === undefined || isOnNode(object, nodeName) || isOnNode(previous, nodeName);
}

function isOnNode(object: ApiObject | undefined, nodeName: string): boolean {
  return object !== undefined && nodeNameOf(object) === nodeName;
}

/** A Set that grows while it is walked shows the newcomers too: their liveAfterVersion keeps them out. */
function deliverTo(subscribers: Set<Subscriber> | undefined, change: StoreChange): void {
  if (subscribers === undefined) return;
  for (const { subscription, liveAfterVersion } of subscribers) {
    if (change.version > liveAfterVersion && isWanted(subscription, change)) {
      subscription.onChange(change);
    }
  }
}

/** The narrowest index that the subscription fits into. */
function placeOf(
  subscription: Subscription,
): { readonly selector: Selector; readonly value: string } | undefined {
  const { nodeName, name, namespace } = subscription;
  if (name !== undefined) return { selector: 'name', value: name };
  if (nodeName !== undefined) return { selector: 'nodeName', value: nodeName };
  if (namespace !== undefined) return { selector: 'namespace', value: namespace };
  return undefined;
}
