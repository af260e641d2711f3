// Which waiting message is delivered next: the one difference between standard and FIFO queues.
//
// Assumes the queue calls `add` for each message that waits, `take` to deliver, and then exactly one of `release`
// (it comes back) or `settle` (it is gone) for each message that `take` put in flight.
// FIFO invariant: while any message of a group is in flight, none other of that group is taken, except in the very
// `take` that started it; within a group messages leave in sequence order. Groups are served in turn, so one group
// with a long backlog cannot hide the others. A delayed head holds back its group, as order demands.
import type { StoredMessage } from './message.ts';
import { SortedList } from './sorted-list.ts';

const bySequence = ({ sequence }: StoredMessage): number => sequence;

/** Decides about a message that is next in line: true puts it in flight, false means it was moved elsewhere. */
export type Accept = (message: StoredMessage) => boolean;

/** The waiting messages of one queue. */
export interface Backlog {
  /** A message starts to wait, perhaps with a delay. */
  add(message: StoredMessage, nowMs: number): void;
  /** The delay of a waiting message is over. */
  wake(message: StoredMessage): void;
  /** Offers up to `countMax` visible messages in order. */
  take(nowMs: number, countMax: number, accept: Accept): void;
  /** A message in flight waits again. */
  release(message: StoredMessage): void;
  /** A message in flight is gone for good. */
  settle(message: StoredMessage): void;
  /** A waiting message is gone for good. */
  remove(message: StoredMessage): void;
  /** Whether `take` would offer something. */
  hasVisible(nowMs: number): boolean;
  /** Everything is gone, also what is in flight. */
  clear(): void;
}

/** Best-effort order, no exclusivity. */
export class StandardBacklog implements Backlog {
  readonly #visible = new SortedList(bySequence);

  add(message: StoredMessage, nowMs: number): void {
    if (message.visibleAtMs <= nowMs) this.#visible.insert(message);
  }

  wake(message: StoredMessage): void {
    this.#visible.insert(message);
  }

  take(_nowMs: number, countMax: number, accept: Accept): void {
    let count = 0;
    while (count < countMax) {
      const message = this.#visible.shift();
      if (message === undefined) return;
      if (accept(message)) count += 1;
    }
  }

  release(message: StoredMessage): void {
    this.#visible.insert(message);
  }

  settle(_message: StoredMessage): void {
    // A standard queue holds nothing back while a message is in flight, so there is nothing to let go.
  }

  remove(message: StoredMessage): void {
    this.#visible.remove(message);
  }

  hasVisible(_nowMs: number): boolean {
    return this.#visible.size > 0;
  }

  clear(): void {
    this.#visible.clear();
  }
}

interface Group {
  readonly id: string;
  readonly waiting: SortedList<StoredMessage>;
  inFlightCount: number;
}

/** Order and exclusivity within each message group. */
export class GroupedBacklog implements Backlog {
  readonly #groups = new Map<string, Group>();
  /** Groups with something waiting and nothing in flight, the longest-ready first. */
  readonly #ready = new Set<Group>();

  add(message: StoredMessage): void {
    const id = message.groupId ?? '';
    let group = this.#groups.get(id);
    if (group === undefined) {
      group = { id, waiting: new SortedList(bySequence), inFlightCount: 0 };
      this.#groups.set(id, group);
    }
    group.waiting.insert(message);
    this.#refresh(group);
  }

  wake(_message: StoredMessage): void {
    // A delayed message waits in its group from the start, so that nothing behind it can overtake.
  }

  take(nowMs: number, countMax: number, accept: Accept): void {
    let count = 0;
    for (const group of this.#ready) {
      if (count >= countMax) return;
      while (count < countMax) {
        const head = group.waiting.first();
        if (head === undefined || head.visibleAtMs > nowMs) break;
        group.waiting.shift();
        if (!accept(head)) continue;
        group.inFlightCount += 1;
        count += 1;
      }
      this.#refresh(group);
    }
  }

  release(message: StoredMessage): void {
    const group = this.#groupOf(message);
    group.inFlightCount -= 1;
    group.waiting.insert(message);
    this.#refresh(group);
  }

  settle(message: StoredMessage): void {
    const group = this.#groupOf(message);
    group.inFlightCount -= 1;
    this.#refresh(group);
  }

  remove(message: StoredMessage): void {
    const group = this.#groupOf(message);
    group.waiting.remove(message);
    this.#refresh(group);
  }

  hasVisible(nowMs: number): boolean {
    for (const group of this.#ready) {
      const head = group.waiting.first();
      if (head !== undefined && head.visibleAtMs <= nowMs) return true;
    }
    return false;
  }

  clear(): void {
    this.#groups.clear();
    this.#ready.clear();
  }

  #groupOf(message: StoredMessage): Group {
    const group = this.#groups.get(message.groupId ?? '');
    if (group === undefined) {
      throw new Error(`message ${message.messageId} is in no group of this queue`);
    }
    return group;
  }

  #refresh(group: Group): void {
    if (group.inFlightCount > 0) this.#ready.delete(group);
    else if (group.waiting.size > 0) this.#ready.add(group);
    else {
      this.#ready.delete(group);
      this.#groups.delete(group.id);
    }
  }
}
