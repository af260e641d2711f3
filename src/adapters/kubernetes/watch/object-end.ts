/**
 * Finds where a JSON object ends that arrives in several chunks, looking at each byte once.
 *
 * Counts braces and brackets outside of text. It checks no grammar: who parses the object does.
 */
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-bytes.ts';

/** Remembers where in an object the last chunk ended. */
export class ObjectEnd {
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /**
   * The place after the object's last byte; undefined while it has not come. The first call for an object starts
   * at its opening brace, each further one at the beginning of the next chunk.
   */
  find(chunk: Buffer, start: number): number | undefined {
    let at = start;
    while (at < chunk.length) {
      if (this.#isText) {
        at = this.#skipText(chunk, at);
        continue;
      }
      const byte = chunk[at];
      at += 1;
      if (byte === QUOTE) this.#isText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.#depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.#depth -= 1;
      if (this.#depth === 0) return at;
    }
    return undefined;
  }

  /** The place after the text's end, or the chunk's. */
  #skipText(chunk: Buffer, start: number): number {
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    for (; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === QUOTE) {
        this.#isText = false;
        return at + 1;
      }
      if (byte !== BACKSLASH) continue;
      at += 1;
      this.#isEscaped = at >= chunk.length;
    }
    return chunk.length;
  }
}
