/**
 * Reads the body of an answer whole (bounded, decompressed, concatenated once), as JSON.
 *
 * A server, or a proxy before it, may repeat the token that it was sent; its refusals are shown to people (S11, faults
 * 68). Texts are looked through after they were parsed: in JSON a letter can be written in several ways. A server that
 * disguises the token further tells its own secret, and is not stopped from it.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { describeFailure } from './tls-fault.ts';

const gunzipAsync = promisify(gunzip);

class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
  readonly code = 'RESPONSE_TOO_LARGE';
}

/**
 * The body as text. Rejects when it is larger than `bytesMax` (compressed or not), cut short, or not what its
 * content-encoding says.
 */
export async function readBody(response: IncomingMessage, bytesMax: number): Promise<string> {
  const raw = await readBytes(response, bytesMax);
  const isGzip = response.headers['content-encoding'] === 'gzip';
  const bytes = isGzip ? await gunzipAsync(raw, { maxOutputLength: bytesMax }) : raw;
  return bytes.toString('utf8');
}

/** By events: thousands of small answers cost half as much as with an iterator for each. */
function readBytes(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes <= bytesMax) return;
      reject(new TooLargeError('answer too large'));
      response.destroy();
    });
    response.on('end', () => {
      const [only] = chunks;
      resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, sizeBytes));
    });
    // Node tells an answer that is cut short, or destroyed, as an error.
    response.on('error', reject);
  });
}

/** An answer that cannot be read to its end, for the reason that its message names. */
export class BrokenAnswerError extends Error {
  override readonly name = 'BrokenAnswerError';
}

/**
 * Passes chunks on. Throws {@link BrokenAnswerError} when they end in an error, or are more than allowed: what whoever
 * reads them item by item throws, for reasons of its own, stays apart from that.
 */
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

/** The text without the token. */
export function concealToken(text: string, token: string | undefined): string {
  return token === undefined || token === '' ? text : text.replaceAll(token, '[redacted]');
}

/** Parses a body, that of a refusal without our token; undefined when it is no JSON, or nested beyond reason. */
export function parseBody(text: string, token?: string): Json | undefined {
  const conceal = (_key: string, value: Json): Json =>
    typeof value === 'string' ? concealToken(value, token) : value;
  try {
    return JSON.parse(text, token === undefined ? undefined : conceal) as Json;
  } catch {
    // A proxy's page: it is judged by its status alone.
    return undefined;
  }
}
