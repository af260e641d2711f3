/** What a request gives: its query, or its JSON body of bounded size. */
import type { IncomingMessage } from 'node:http';
import * as v from 'valibot';
import { usageError } from '../process/exit-codes.ts';
import type { Given } from './api-commands.ts';
import type { RequestRefusal } from './protection.ts';

/** A manifest fits into it: the API server takes no larger object than 1.5 MB. */
const BODY_BYTES_MAX = 2_000_000;

const One = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((value) => String(value)),
);
const Body = v.record(v.string(), v.union([One, v.array(One)]));

export function givenInQuery(query: URLSearchParams): Given {
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
}

/** Of a body. Throws CommandError (2). */
export function givenInBody(text: string): Given {
  const read = v.safeParse(Body, parsed(text));
  if (!read.success) {
    throw usageError(
      'The body is no JSON object of texts, numbers, booleans and lists of them.',
      'The document at /api/v1/openapi.json says what each command takes.',
    );
  }
  const entries = Object.entries(read.output);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? [value] : value]),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError('The body is no JSON.', 'Send one JSON object.', error);
  }
}

/** The whole body, or why it is not taken. Rejects when the client leaves. */
export async function readBody(
  request: IncomingMessage,
): Promise<
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'refused'; readonly refusal: RequestRefusal }
> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) return { kind: 'refused', refusal: TOO_LARGE };
    chunks.push(chunk);
  }
  return { kind: 'read', text: Buffer.concat(chunks).toString('utf8') };
}

const TOO_LARGE: RequestRefusal = {
  status: 413,
  message: `The body has more than ${String(BODY_BYTES_MAX)} bytes.`,
  remedy: 'Send a smaller one.',
};
