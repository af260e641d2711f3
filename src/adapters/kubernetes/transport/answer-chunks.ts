/**
 * The chunks of one answer, up to a size; tells failures of the answer from those of who reads it.
 *
 * Whoever reads a page item by item may throw for reasons of its own. Those pass; what the answer did wrong
 * comes as one kind of error, whose message names a code and nothing that the other side chose.
 */
import { describeFailure } from './tls-fault.ts';

/** An answer that cannot be read to its end, for the reason that its message names. */
export class BrokenAnswerError extends Error {
  override readonly name = 'BrokenAnswerError';
}

/** Passes chunks on. Throws {@link BrokenAnswerError} when they end in an error, or are more than allowed. */
export async function* answerChunks(
  chunks: AsyncIterable<Buffer>,
  bytesMax: number,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new BrokenAnswerError('RESPONSE_TOO_LARGE');
      yield chunk;
    }
  } catch (cause) {
    if (cause instanceof BrokenAnswerError) throw cause;
    throw new BrokenAnswerError(describeFailure(cause), { cause });
  }
}
