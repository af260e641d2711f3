/** Cuts events into requests that PutEvents takes: ten of them, and 256 KB together. Pure. */
import type { BusEntry } from '../../ports/event-bus.ts';

/** Entries of one request. */
export const ENTRIES_MAX = 10;
/** Bytes of one request, with room for what is around the details. */
const CHUNK_BYTES_MAX = 240_000;
/** Of an entry beside its detail: source, type, time, name of the bus. */
const AROUND_BYTES = 1024;

/** In their order; an event that is larger by itself goes alone, and is refused by the service. */
export function chunksOf(entries: readonly BusEntry[]): readonly (readonly BusEntry[])[] {
  const chunks: BusEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = Buffer.byteLength(entry.detail) + AROUND_BYTES;
    const last = chunks.at(-1);
    if (last === undefined || last.length === ENTRIES_MAX || bytes + size > CHUNK_BYTES_MAX) {
      chunks.push([entry]);
      bytes = size;
    } else {
      last.push(entry);
      bytes += size;
    }
  }
  return chunks;
}
