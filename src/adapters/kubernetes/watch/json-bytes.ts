/**
 * Finds members and ends of JSON values in bytes, without making values of them.
 *
 * For JSON as API servers write it: compact, UTF-8, nothing escaped in keys. What is laid out otherwise is
 * answered with undefined, and the caller parses it. It checks no grammar beyond what it needs to find its way.
 */
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';

const QUOTE = 0x22;
/** Between members, and between items. */
export const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** Begins a list. */
export const OPEN_LIST = 0x5b;
/** Ends a list. */
export const CLOSE_LIST = 0x5d;
/** Begins an object. */
export const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A key, and where it and its value begin. */
export interface Key {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
}

/** A key as the API server writes it: no white space around it, nothing escaped in it. */
export function readKey(line: Buffer, at: number): Key | undefined {
  if (line[at] !== QUOTE) return undefined;
  const end = skipText(line, at);
  if (end === undefined || line[end] !== COLON) return undefined;
  return { key: line.toString('latin1', at + 1, end - 1), keyStart: at, valueStart: end + 1 };
}

/** The place after a value; undefined when the line ends before. */
export function skipValue(line: Buffer, start: number): number | undefined {
  const first = line[start];
  if (first === QUOTE) return skipText(line, start);
  if (first === OPEN_OBJECT || first === OPEN_LIST) return skipNested(line, start);
  for (let at = start; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST) return at;
  }
  return undefined;
}

function skipNested(line: Buffer, start: number): number | undefined {
  let depth = 0;
  let at = start;
  while (at < line.length) {
    const byte = line[at];
    if (byte === QUOTE) {
      const end = skipText(line, at);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    at += 1;
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

function skipText(line: Buffer, start: number): number | undefined {
  for (let at = start + 1; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) return at + 1;
  }
  return undefined;
}

/** A JSON object; undefined where the text is none: who asked judges what that means. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Its message would quote the object.
    return undefined;
  }
}

/**
 * Finds where a JSON object ends that arrives in several chunks, looking at each byte once: counts braces and brackets
 * outside of text, and remembers where in an object the last chunk ended.
 */
export class ObjectEnd {
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** The place after the object's last byte, once here; begins at its opening brace, then at each chunk's start. */
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
