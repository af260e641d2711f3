/**
 * How much structure a JSON text has, counted without parsing it (faults row 67).
 *
 * Parsing costs by values, not by bytes: one kilobyte, compressed, can unpack to millions of empty
 * objects and take seconds of the function that other clusters wait for (L3). Only what stands outside
 * of strings counts, so no text inside an object can make it look larger. What is no JSON is left to
 * the parser.
 */

/** How much structure a text may have. */
export interface StructureBound {
  /** Values, by the separators between them. */
  readonly separatorsMax: number;
  readonly depthMax: number;
}

/** Of a payload: a full one has half as many values; nothing is accepted that is nested so deeply. */
export const PAYLOAD_STRUCTURE: StructureBound = { separatorsMax: 1_000_000, depthMax: 200 };

/** Of a body, whose payload is one string: a handful of fields, and those of releases to come. */
export const ENVELOPE_STRUCTURE: StructureBound = { separatorsMax: 1000, depthMax: 10 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_LIST = 0x5d;

/** The index after a string that begins at `start`; the length of the text when it does not end. */
function endOfString(text: Uint8Array, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === BACKSLASH) at += 1;
    else if (text[at] === QUOTE) return at + 1;
  }
  return text.length;
}

/** True for a JSON text (UTF-8) with more values, or deeper nesting, than the bound allows. */
export function isTooStructured(text: Uint8Array, bound: StructureBound): boolean {
  let separators = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at) - 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1;
        separators += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        break;
      case COMMA:
      case COLON:
        separators += 1;
        break;
      default:
    }
    if (depth > bound.depthMax || separators > bound.separatorsMax) return true;
  }
  return false;
}
