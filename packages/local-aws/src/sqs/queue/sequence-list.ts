// A list of messages ordered by sequence number: cheap at both ends, correct in the middle.
//
// Almost every insertion is at the end (a new message) and almost every removal at the front (the next one to
// deliver). A message that comes back after its visibility timeout is put where its sequence belongs, by binary
// search. Invariant: sequences in `#items[#start..]` grow strictly.
import type { StoredMessage } from './message.ts';

const compactionThreshold = 1024;

/** Messages in sequence order. */
export class SequenceList {
  #items: (StoredMessage | undefined)[] = [];
  #start = 0;

  /** How many messages are in the list. */
  get size(): number {
    return this.#items.length - this.#start;
  }

  /** The message with the lowest sequence, if any. */
  first(): StoredMessage | undefined {
    return this.#items[this.#start];
  }

  /** Removes and returns the message with the lowest sequence. */
  shift(): StoredMessage | undefined {
    const message = this.#items[this.#start];
    if (message === undefined) return undefined;
    this.#items[this.#start] = undefined;
    this.#start += 1;
    if (this.#start === this.#items.length) {
      this.#items = [];
      this.#start = 0;
    } else if (this.#start >= compactionThreshold && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return message;
  }

  /** Puts a message where its sequence belongs. */
  insert(message: StoredMessage): void {
    const index = this.#indexOf(message.sequence);
    if (index === this.#items.length) this.#items.push(message);
    else if (index === this.#start && this.#start > 0) this.#items[--this.#start] = message;
    else this.#items.splice(index, 0, message);
  }

  /** Removes a message wherever it is; false if it is not in the list. */
  remove(message: StoredMessage): boolean {
    const index = this.#indexOf(message.sequence);
    if (this.#items[index] !== message) return false;
    if (index === this.#start) this.shift();
    else this.#items.splice(index, 1);
    return true;
  }

  /** Empties the list. */
  clear(): void {
    this.#items = [];
    this.#start = 0;
  }

  /** The first index whose sequence is not lower. */
  #indexOf(sequence: number): number {
    let low = this.#start;
    let high = this.#items.length;
    const last = this.#items[high - 1];
    if (last !== undefined && last.sequence < sequence) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const candidate = this.#items[middle];
      if (candidate !== undefined && candidate.sequence < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
