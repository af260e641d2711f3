/**
 * The changes of one resource that late watchers may still ask for: a bounded window, oldest dropped first. It knows how
 * much memory they hold, so that the store can bound that as well.
 *
 * Invariant: it holds every change of the resource with a version greater than `oldestVersion`, in order.
 */
import { isJsonObject, jsonItems } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { StoreChange } from './store.ts';

/** Dropped entries are cut off the array once they are a quarter of it. */
const SLACK = 4;

interface Entry {
  readonly change: StoreChange;
  readonly bytes: number;
}

/** See above. */
export class History {
  readonly #changesMax: number;
  /** Dropped ones are undefined: they must not hold their objects until they are cut off. */
  #entries: (Entry | undefined)[] = [];
  /** Where the window starts within the array. */
  #start = 0;
  #bytes = 0;
  #oldestVersion: bigint;

  constructor(options: { readonly changesMax: number; readonly oldestVersion: bigint }) {
    this.#changesMax = options.changesMax;
    this.#oldestVersion = options.oldestVersion;
  }

  /** Changes after this version, and after no older one, are all here. */
  get oldestVersion(): bigint {
    return this.#oldestVersion;
  }

  /** Memory that its changes hold, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the newest change. */
  push(change: StoreChange): void {
    const bytes = heldBytes(change);
    this.#entries.push({ change, bytes });
    this.#bytes += bytes;
    if (this.#entries.length - this.#start > this.#changesMax) this.dropOldest();
  }

  /** Forgets the oldest change. */
  dropOldest(): void {
    const oldest = this.#entries[this.#start];
    if (oldest === undefined) return;
    this.#oldestVersion = oldest.change.version;
    this.#bytes -= oldest.bytes;
    this.#entries[this.#start] = undefined;
    this.#start += 1;
    if (this.#start * SLACK < this.#entries.length) return;
    this.#entries = this.#entries.slice(this.#start);
    this.#start = 0;
  }

  /** The changes with afterVersion < version <= untilVersion, oldest first. */
  between(versions: {
    readonly afterVersion: bigint;
    readonly untilVersion: bigint;
  }): readonly StoreChange[] {
    const first = this.#indexAfter(versions.afterVersion);
    return this.#entries
      .slice(first, this.#indexAfter(versions.untilVersion))
      .flatMap((entry) => (entry === undefined ? [] : [entry.change]));
  }

  /** Forgets everything up to this version, which is the newest. */
  forget(newestVersion: bigint): void {
    this.#entries = [];
    this.#start = 0;
    this.#bytes = 0;
    this.#oldestVersion = newestVersion;
  }

  /** Index of the first change after the version. */
  #indexAfter(version: bigint): number {
    let low = this.#start;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const entry = this.#entries[middle];
      if (entry === undefined || entry.change.version > version) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** An object, a list, or the head of a text. */
const VALUE_BYTES = 24;
/** A member or item beside its value. */
const SLOT_BYTES = 8;

/**
 * How much memory a change keeps alive, about: what it does not share with the state before it. A deletion keeps the whole object,
 * which nothing else holds any more. Parts that both states share cost no look.
 */
function heldBytes({ type, object, previous }: StoreChange): number {
  return bytesBeside(object, type === 'DELETED' ? undefined : previous);
}

function bytesBeside(value: Json | undefined, known: Json | undefined): number {
  if (value === known || value === undefined) return 0;
  if (typeof value === 'string') return VALUE_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = VALUE_BYTES;
  if (isJsonObject(value)) {
    const before = isJsonObject(known) ? known : {};
    for (const [name, member] of Object.entries(value)) {
      bytes += SLOT_BYTES + bytesBeside(member, before[name]);
    }
    return bytes;
  }
  const before = jsonItems(known);
  for (const [index, item] of value.entries()) {
    bytes += SLOT_BYTES + bytesBeside(item, before[index]);
  }
  return bytes;
}
