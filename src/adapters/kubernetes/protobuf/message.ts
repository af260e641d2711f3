/**
 * Reads protobuf messages into the JSON that the same object would be, as far as a form names its fields.
 *
 * A form is a table from the number of a field to its name in JSON and how it is written. What it does not name is skipped
 * without being looked at, so a pod costs what is read of it and not what it holds. As JSON of an API server leaves empty text
 * and zero times out, so does this. No form contains itself: how deep a message can nest is bounded by its form. It
 * throws {@link WireError} for bytes that are no message, and checks no more than it needs to find its way.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';

/** Bytes that are no message of the form that they were read by. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** How one field is written, and what it is called in JSON. */
export interface FieldForm {
  readonly name: string;
  /** `texts`: a map of text to text. `time`: metav1.Time, as text. A form: a message. */
  readonly as: 'text' | 'integer' | 'flag' | 'time' | 'texts' | MessageForm;
  /** Each occurrence is one member more. */
  readonly isList?: true;
}

/** Fields by their numbers. */
export type MessageForm = readonly (FieldForm | undefined)[];

/** A form of these fields. */
export function messageForm(fields: Readonly<Record<number, FieldForm>>): MessageForm {
  const form: (FieldForm | undefined)[] = [];
  for (const [number, field] of Object.entries(fields)) form[Number(number)] = field;
  return form;
}

/** Wire types. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const TWO_TO_32 = 2 ** 32;
const VARINT_BITS_MAX = 70;

/** metav1.Time: seconds since 1970; JSON leaves their fraction out. */
const TIME = messageForm({ 1: { name: 'seconds', as: 'integer' } });
/** An entry of a map of texts. */
const ENTRY = messageForm({ 1: { name: 'key', as: 'text' }, 2: { name: 'value', as: 'text' } });
const MEMBER = { enumerable: true, configurable: true, writable: true };

/** The years 1 to 9999: beyond them an API server has no JSON for a time either. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;
/** Times of pods come in crowds: one second has many. */
const TIMES_KEPT_MAX = 256;
const timeTexts = new Map<number, string>();

/** What a message says of the fields that its form names. */
export function readMessage(form: MessageForm, bytes: Buffer): JsonObject {
  return new MessageReader(bytes).message(form, bytes.length);
}

/** The bytes of one field, a message or text; undefined when it is not there. The last one counts. */
export function readBytes(bytes: Buffer, number: number): Buffer | undefined {
  return new MessageReader(bytes).find(number);
}

/** Walks through one message, and those within. */
class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;
  /** Of the number that was read last the bits from the 33rd on, with its sign. */
  #high = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  find(number: number): Buffer | undefined {
    const end = this.#bytes.length;
    let found: Buffer | undefined;
    while (this.#at < end) {
      const tag = this.#low();
      if (tag >>> 3 === number && (tag & 7) === BYTES) {
        const start = this.#skipBytes(end);
        found = this.#bytes.subarray(start, this.#at);
      } else {
        this.#skip(tag & 7, end);
      }
    }
    return found;
  }

  message(form: MessageForm, end: number): JsonObject {
    const object: Record<string, Json> = {};
    while (this.#at < end) {
      const tag = this.#low();
      const field = form[tag >>> 3];
      if (field === undefined) this.#skip(tag & 7, end);
      else this.#readField(object, field, { wire: tag & 7, end });
    }
    if (this.#at !== end) throw new WireError('a field is longer than its message');
    return object;
  }

  #readField(
    object: Record<string, Json>,
    { name, as, isList }: FieldForm,
    { wire, end }: { readonly wire: number; readonly end: number },
  ): void {
    if (wire !== (as === 'integer' || as === 'flag' ? VARINT : BYTES)) {
      throw new WireError('a field is written in another way than its form says');
    }
    if (as === 'texts') {
      this.#readEntry(object, name, end);
      return;
    }
    const value = this.#value(as, end);
    const known = object[name];
    if (isList === undefined) {
      if (value !== '') object[name] = value;
    } else if (Array.isArray(known)) {
      (known as Json[]).push(value);
    } else {
      object[name] = [value];
    }
  }

  #value(as: Exclude<FieldForm['as'], 'texts'>, end: number): Json {
    switch (as) {
      case 'text':
        return this.#text(end);
      case 'integer':
        return this.#integer();
      case 'flag':
        return this.#low() !== 0;
      case 'time':
        return this.#time(end);
      default:
        return this.#nested(as, end);
    }
  }

  #text(end: number): string {
    const start = this.#skipBytes(end);
    return this.#bytes.toString('utf8', start, this.#at);
  }

  /** A message that is the value of a field. */
  #nested(form: MessageForm, end: number): JsonObject {
    const length = this.#length(end);
    return this.message(form, this.#at + length);
  }

  /** '' for none. */
  #time(end: number): string {
    const { seconds } = this.#nested(TIME, end);
    return typeof seconds === 'number' && seconds !== 0 ? timeText(seconds) : '';
  }

  /** One entry of a map. */
  #readEntry(object: Record<string, Json>, name: string, end: number): void {
    const { key = '', value = '' } = this.#nested(ENTRY, end) as Record<string, string>;
    const known = object[name] as Record<string, Json> | undefined;
    const texts = known ?? {};
    if (known === undefined) object[name] = texts;
    // An assignment would make `__proto__` the object's own prototype, where JSON.parse makes a member of it.
    if (key === '__proto__') Object.defineProperty(texts, key, { ...MEMBER, value });
    else texts[key] = value;
  }

  /** A signed number of up to 64 bits; beyond 2^53 it loses its last digits, as JSON's do. */
  #integer(): number {
    const low = this.#low();
    return this.#high * TWO_TO_32 + low;
  }

  #skip(wire: number, end: number): void {
    if (wire === VARINT) this.#low();
    else if (wire === BYTES) this.#skipBytes(end);
    else if (wire === FIXED64) this.#at += 8;
    else if (wire === FIXED32) this.#at += 4;
    else throw new WireError('a field is written in an unknown way');
    if (this.#at > end) throw new WireError('a field is longer than its message');
  }

  /** Passes a field of bytes; where they begin. */
  #skipBytes(end: number): number {
    const length = this.#length(end);
    const start = this.#at;
    this.#at += length;
    return start;
  }

  #length(end: number): number {
    const length = this.#low();
    if (this.#high !== 0 || length > end - this.#at) {
      throw new WireError('a field is longer than its message');
    }
    return length;
  }

  /** A number's first 32 bits; the others are in `#high`. */
  #low(): number {
    let low = 0;
    let high = 0;
    for (let shift = 0; shift < VARINT_BITS_MAX; shift += 7) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new WireError('a message is cut short');
      this.#at += 1;
      const bits = byte & 0x7f;
      if (shift < 32) low |= bits << shift;
      if (shift > 28) high |= bits << (shift - 32);
      else if (shift === 28) high = bits >>> 4;
      if (byte < 0x80) {
        this.#high = high;
        return low >>> 0;
      }
    }
    throw new WireError('a number is too long');
  }
}

/** As JSON has it: UTC, whole seconds. */
function timeText(seconds: number): string {
  const known = timeTexts.get(seconds);
  if (known !== undefined) return known;
  if (seconds < SECONDS_MIN || seconds > SECONDS_MAX) throw new WireError('a time is none');
  const text = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  if (timeTexts.size >= TIMES_KEPT_MAX) timeTexts.clear();
  timeTexts.set(seconds, text);
  return text;
}
