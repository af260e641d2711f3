/**
 * How much text fits one message of the queue, learned from what encoding made of earlier ones.
 *
 * Bodies are compressed, so their size is known only after encoding. The estimate keeps second
 * encodings rare; the builder of a message checks the real size and splits. Lasts for the process: what
 * a refusal taught holds for the epochs that follow (protocol 22).
 */

/** An estimate is only made from messages that are large enough to tell. */
const SAMPLE_CHARS_MIN = 16_384;
/**
 * The most text in one message, however well it compresses: bounds what both ends hold at once, and makes
 * bodies of about 40 KB, of which each is charged as one request (64 KB).
 */
const MESSAGE_CHARS_MAX = 524_288;
const SHARE_MIN = 1 / 4096;

/** Size limit of messages, and what is known about compression. */
export class MessageSize {
  /** Encoded bytes that a message may have. */
  readonly bytesMax: number;
  /** Encoded bytes per character, with a margin. */
  #ratio = 0.4;
  /** Halved by each refusal: in the end the object that cannot be sent travels alone. */
  #share = 1;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Characters of projections to put into one message. */
  get charsMax(): number {
    return Math.min(this.bytesMax / this.#ratio, MESSAGE_CHARS_MAX) * this.#share;
  }

  /** Stored bytes that a slice of so much text will have, roughly (base64 of the wire undone). */
  storedBytes(chars: number): number {
    return this.storedOf(chars * this.#ratio);
  }

  /** Stored bytes of what was encoded into so many (base64 undone). */
  storedOf(encodedBytes: number): number {
    return encodedBytes * 0.75;
  }

  /** A message of so much text became so large. */
  learn(chars: number, bytes: number): void {
    if (chars >= SAMPLE_CHARS_MIN) this.#ratio = Math.min(Math.max((bytes / chars) * 1.1, 0.02), 2);
  }

  /** The queue refused a message of several objects: smaller ones from now on. */
  shrink(): void {
    this.#share = Math.max(this.#share / 2, SHARE_MIN);
  }
}
