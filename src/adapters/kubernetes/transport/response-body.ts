/**
 * Reads the body of an answer whole: bounded, decompressed, concatenated once.
 */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const gunzipAsync = promisify(gunzip);

/** An answer that is larger than allowed. */
class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
  readonly code = 'RESPONSE_TOO_LARGE';
}

/**
 * The body as text. Rejects when it is larger than `bytesMax` (compressed or not), cut short, or not
 * what its content-encoding says.
 */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > bytesMax) throw new TooLargeError('answer too large');
    chunks.push(chunk);
  }
  const [only] = chunks;
  const raw = only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, sizeBytes);
  if (response.headers['content-encoding'] !== 'gzip') return raw.toString('utf8');
  const plain = await gunzipAsync(raw, { maxOutputLength: bytesMax });
  return plain.toString('utf8');
}
