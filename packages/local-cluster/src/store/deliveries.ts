/**
 * Brings changes to subscribers: in a microtask of their own, one change after the other, each to everybody who wants
 * it before the next one begins.
 *
 *   write 7 ─ write 8 ─ (microtask) ─ 7 to A, 7 to B ─ 8 to A ... A writes 9 ... 8 to B ─ 9 to A, 9 to B
 *
 * A subscriber that writes from its callback therefore adds to the end of the queue. A newcomer gets its past from the
 * history before the next live change. Invariant: a subscriber sees versions grow, none twice. A callback that throws is
 * a bug: the error surfaces, the rest is delivered in a later microtask.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import type { History } from './history.ts';
import type { StoreChange, Subscription } from './store.ts';
import { nodeNameOf } from './collection.ts';

interface CatchUp {
  readonly subscriber: Subscriber;
  readonly changes: readonly StoreChange[];
}

/** The queue of changes, and who hears of them. */
export class Deliveries {
  readonly #subscribers = new Map<ResourceName, Subscribers>();
  readonly #beforeDelivery: () => void;
  #queue: StoreChange[] = [];
  /** Changes before this index have been delivered. */
  #deliveredCount = 0;
  /** Changes before this index have been through `beforeDelivery`. */
  #preparedCount = 0;
  #catchUps: CatchUp[] = [];
  /** Everything up to here has been delivered, or is being delivered just now. */
  #deliveredVersion: bigint;
  #isScheduled = false;

  /** `beforeDelivery` is called once for a batch of changes before anyone hears of them: the journal's flush. */
  constructor(options: { readonly version: bigint; readonly beforeDelivery: () => void }) {
    this.#deliveredVersion = options.version;
    this.#beforeDelivery = options.beforeDelivery;
  }

  /** Takes the newest change. */
  push(change: StoreChange): void {
    this.#queue.push(change);
    this.#schedule();
  }

  /** Adds a subscriber; the history must reach back to its afterVersion. */
  subscribe(subscription: Subscription, history: History): Cancel {
    const { resource, afterVersion } = subscription;
    const untilVersion = this.#deliveredVersion;
    const subscriber: Subscriber = {
      subscription,
      liveAfterVersion: afterVersion > untilVersion ? afterVersion : untilVersion,
      isCancelled: false,
    };
    const subscribers = this.#subscribersOf(resource);
    subscribers.add(subscriber);
    if (afterVersion < untilVersion) {
      this.#catchUp(subscriber, history.between({ afterVersion, untilVersion }));
    }
    return () => {
      subscriber.isCancelled = true;
      subscribers.delete(subscriber);
    };
  }

  #catchUp(subscriber: Subscriber, past: readonly StoreChange[]): void {
    const changes = past.filter((change) => isWanted(subscriber.subscription, change));
    if (changes.length === 0) return;
    this.#catchUps.push({ subscriber, changes });
    this.#schedule();
  }

  #subscribersOf(resource: ResourceName): Subscribers {
    const existing = this.#subscribers.get(resource);
    if (existing !== undefined) return existing;
    const subscribers = new Subscribers();
    this.#subscribers.set(resource, subscribers);
    return subscribers;
  }

  /** Stays scheduled while it delivers: what callbacks add is found by the running loop. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#deliverAll();
    });
  }

  #deliverAll(): void {
    try {
      for (;;) {
        this.#deliverCatchUps();
        if (this.#deliveredCount === this.#queue.length) break;
        this.#deliverNext();
      }
      this.#queue = [];
      this.#deliveredCount = 0;
      this.#preparedCount = 0;
    } finally {
      this.#isScheduled = false;
      if (this.#queue.length > 0 || this.#catchUps.length > 0) this.#schedule();
    }
  }

  #deliverNext(): void {
    if (this.#deliveredCount === this.#preparedCount) {
      this.#beforeDelivery();
      this.#preparedCount = this.#queue.length;
    }
    const change = this.#queue[this.#deliveredCount];
    this.#deliveredCount += 1;
    if (change === undefined) return;
    this.#deliveredVersion = change.version;
    this.#subscribers.get(change.resource)?.deliver(change);
  }

  #deliverCatchUps(): void {
    while (this.#catchUps.length > 0) {
      const catchUps = this.#catchUps;
      this.#catchUps = [];
      for (const { subscriber, changes } of catchUps) {
        for (const change of changes) {
          if (!subscriber.isCancelled) subscriber.subscription.onChange(change);
        }
      }
    }
  }
}

/** A running subscription. */
interface Subscriber {
  readonly subscription: Subscription;
  /** Live changes up to this version are not for it: it has them, or gets them from the history. */
  readonly liveAfterVersion: bigint;
  isCancelled: boolean;
}

type Selector = 'name' | 'nodeName' | 'namespace';

/**
 * The subscribers of one resource, found by index, so that a change of one pod costs its own node's agent a call and the other
 * 999 nothing. Each stands in the narrowest index that it fits into; what else it asks for is checked at the change.
 */
class Subscribers {
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
function isWanted(subscription: Subscription, change: StoreChange): boolean {
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
