/**
 * Collects the body of one answer after the other in the same memory.
 *
 * Pages of a list are megabytes that live for a moment. As buffers of their own they outlive the young
 * generation and wait, tens of megabytes of them, until V8 thinks of collecting the old one. So there is one
 * buffer, as large as the largest page so far, and what was collected holds until the next collection begins.
 */

/** An answer that is larger than allowed. */
class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
  readonly code = 'RESPONSE_TOO_LARGE';
}

const FIRST_BYTES = 64 * 1024;

/** Memory for one body at a time. */
export class BodyCollector {
  readonly #bytesMax: number;
  #buffer = Buffer.alloc(0);
  #turn = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The whole body, valid until the next call. Rejects when the chunks end in an error, are more than allowed, or
   * when another collection has begun meanwhile.
   */
  async collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
    this.#turn += 1;
    const turn = this.#turn;
    let length = 0;
    for await (const chunk of chunks) {
      // A request that was given up may still have chunks on their way.
      if (turn !== this.#turn) throw new Error('another answer is being read');
      if (length + chunk.length > this.#bytesMax) throw new BodyTooLargeError('answer too large');
      this.#reserve(length + chunk.length, length);
      chunk.copy(this.#buffer, length);
      length += chunk.length;
    }
    return this.#buffer.subarray(0, length);
  }

  #reserve(needed: number, used: number): void {
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2, FIRST_BYTES));
    this.#buffer.copy(larger, 0, 0, used);
    this.#buffer = larger;
  }
}
