// When does which message become visible: a binary heap by time.
//
// Entries are never removed early. A message that is deleted, or whose visibility is changed, leaves a stale entry
// behind, recognised by its time no longer being the message's own; the queue drops it when it surfaces. That
// keeps deletes at O(1). The heap holds ids, not messages, so a stale entry does not keep a body in memory.

/** One point in time at which a message may become visible. */
export interface Wake {
  readonly atMs: number;
  readonly messageId: string;
}

/** A min-heap of wakes. */
export class WakeHeap {
  #entries: Wake[] = [];

  /** The earliest wake, stale or not. */
  first(): Wake | undefined {
    return this.#entries[0];
  }

  /** Adds a wake. */
  push(wake: Wake): void {
    const entries = this.#entries;
    let index = entries.length;
    entries.push(wake);
    while (index > 0) {
      const parentIndex = (index - 1) >>> 1;
      const parent = entries[parentIndex];
      if (parent === undefined || parent.atMs <= wake.atMs) break;
      entries[index] = parent;
      index = parentIndex;
    }
    entries[index] = wake;
  }

  /** Removes and returns the earliest wake. */
  pop(): Wake | undefined {
    const entries = this.#entries;
    const top = entries[0];
    const last = entries.pop();
    if (top === undefined || last === undefined || entries.length === 0) return top;
    let index = 0;
    for (;;) {
      let childIndex = index * 2 + 1;
      let child = entries[childIndex];
      if (child === undefined) break;
      const right = entries[childIndex + 1];
      if (right !== undefined && right.atMs < child.atMs) {
        child = right;
        childIndex += 1;
      }
      if (child.atMs >= last.atMs) break;
      entries[index] = child;
      index = childIndex;
    }
    entries[index] = last;
    return top;
  }

  /** Forgets everything. */
  clear(): void {
    this.#entries = [];
  }
}
