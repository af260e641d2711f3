/**
 * Finds members and ends of JSON values in bytes, without making values of them.
 *
 * For JSON as API servers write it: compact, UTF-8, nothing escaped in keys. What is laid out otherwise is
 * answered with undefined, and the caller parses it. It checks no grammar beyond what it needs to find its way.
 */

/** Begins and ends text. */
export const QUOTE = 0x22;
/** Between members, and between items. */
export const COMMA = 0x2c;
const COLON = 0x3a;
/** Takes its meaning from the byte after it. */
export const BACKSLASH = 0x5c;
/** Begins a list. */
export const OPEN_LIST = 0x5b;
/** Ends a list. */
export const CLOSE_LIST = 0x5d;
/** Begins an object. */
export const OPEN_OBJECT = 0x7b;
/** Ends an object. */
export const CLOSE_OBJECT = 0x7d;

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
