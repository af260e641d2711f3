/**
 * Answers requests to the page's server: protection first, then a file of the page, or an endpoint of the API.
 *
 * A path outside of `/api/` that is no file is a view of the page: the page reads it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EXIT } from '../process/exit-codes.ts';
import type { ApiMethod, Given } from './api-commands.ts';
import type { PageFiles } from './page-files.ts';
import { refuseForeignHost, refuseStranger } from './protection.ts';
import type { RequestRefusal } from './protection.ts';
import { answerOfError, answerOfRefusal } from './run-command.ts';
import type { ApiAnswer } from './run-command.ts';
import * as v from 'valibot';
import { usageError } from '../process/exit-codes.ts';

const API = '/api/';
const BASE = '/api/v1/';
const INDEX = 'index.html';

export type Endpoint =
  | { readonly kind: 'document'; readonly text: string }
  | { readonly kind: 'stream'; readonly open: Stream }
  | {
      readonly kind: 'command';
      readonly method: ApiMethod;
      /** Rejects with CommandError for what is given wrongly. */
      readonly run: (given: Given, signal: AbortSignal) => Promise<ApiAnswer>;
    };

export interface UiServing {
  readonly token: string;
  readonly files: () => Promise<PageFiles>;
  /** By their paths below `/api/v1/`. */
  readonly endpoints: ReadonlyMap<string, Endpoint>;
}

/** Writes until the signal aborts, or it lets go of a reader that is too slow. `lastEventId`: what the reader had. */
export type Stream = (
  response: ServerResponse,
  reader: { readonly signal: AbortSignal; readonly lastEventId: string | undefined },
) => Promise<void>;

export interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

export interface StreamReply {
  readonly kind: 'stream';
  readonly write: (response: ServerResponse, signal: AbortSignal) => Promise<void>;
}

export interface Around {
  readonly serving: UiServing;
  readonly port: number;
  /** As many requests run as may. */
  readonly isBusy: boolean;
}

/** The reply to a request. Rejects with what a person is told (replyToError), or when the client leaves. */
export async function answerRequest(
  request: IncomingMessage,
  signal: AbortSignal,
  { serving, port, isBusy }: Around,
): Promise<Reply | StreamReply> {
  const { headers, method = '', url = '' } = request;
  const head = { headers, method };
  const place = URL.parse(url, 'http://127.0.0.1');
  const foreign = refuseForeignHost(head, port);
  if (foreign !== undefined) return replyToRefusal(foreign);
  if (place?.pathname.startsWith(API) === false) {
    return replyWithFile(place.pathname, method, await serving.files());
  }
  const stranger = refuseStranger(head, { port, token: serving.token });
  if (stranger !== undefined) return replyToRefusal(stranger);
  const endpoint = place?.pathname.startsWith(BASE)
    ? serving.endpoints.get(place.pathname.slice(BASE.length))
    : undefined;
  if (place === null || endpoint === undefined) return replyToRefusal(NOT_THERE);
  return answerWith(endpoint, { request, signal, query: place.searchParams, isBusy });
}

interface Question extends Pick<Around, 'isBusy'> {
  readonly request: IncomingMessage;
  readonly signal: AbortSignal;
  readonly query: URLSearchParams;
}

async function answerWith(
  endpoint: Endpoint,
  { request, signal, query, isBusy }: Question,
): Promise<Reply | StreamReply> {
  const { method = '', headers } = request;
  const allowed = endpoint.kind === 'command' ? endpoint.method : 'GET';
  if (method !== allowed) return notAllowed(method, allowed);
  if (endpoint.kind === 'document') {
    return replyWithJson({ status: 200, exitCode: EXIT.ok, body: endpoint.text });
  }
  if (isBusy) return replyToRefusal(BUSY);
  if (endpoint.kind === 'stream') {
    const lastEventId = headers['last-event-id']?.toString();
    const { open } = endpoint;
    return { kind: 'stream', write: (to, until) => open(to, { signal: until, lastEventId }) };
  }
  if (method === 'GET') return replyWithJson(await endpoint.run(givenInQuery(query), signal));
  const body = await readBody(request);
  if (body.kind === 'refused') return replyToRefusal(body.refusal);
  return replyWithJson(await endpoint.run(givenInBody(body.text), signal));
}

export function replyToError(error: unknown): Reply {
  return replyWithJson(answerOfError(error));
}

function replyToRefusal(refusal: RequestRefusal): Reply {
  return replyWithJson(answerOfRefusal(refusal));
}

function replyWithJson({ status, exitCode, body }: ApiAnswer): Reply {
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'rollcall-exit-code': String(exitCode),
  };
  return { kind: 'reply', status, headers, body };
}

function replyWithFile(pathname: string, method: string, files: PageFiles): Reply {
  if (method !== 'GET' && method !== 'HEAD') return notAllowed(method, 'GET');
  const file = files.get(pathname.slice(1)) ?? files.get(INDEX);
  if (file === undefined) return replyToRefusal(NOT_THERE);
  return {
    kind: 'reply',
    status: 200,
    headers: { 'content-type': file.type },
    body: file.body,
  };
}

function notAllowed(method: string, allowed: string): Reply {
  const reply = replyToRefusal({
    status: 405,
    message: `${/^[A-Z]+$/.test(method) ? method : 'This method'} is not answered here.`,
    remedy: `Use ${allowed}.`,
  });
  return { ...reply, headers: { ...reply.headers, allow: allowed } };
}

const NOT_THERE: RequestRefusal = {
  status: 404,
  message: 'There is nothing of this name.',
  remedy: 'The document at /api/v1/openapi.json lists what there is.',
};
const BUSY: RequestRefusal = {
  status: 429,
  message: 'Too many requests run now.',
  remedy: 'Wait for their answers, and repeat this one.',
};

/** A manifest fits into it: the API server takes no larger object than 1.5 MB. */
const BODY_BYTES_MAX = 2_000_000;

const One = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((value) => String(value)),
);
const Body = v.record(v.string(), v.union([One, v.array(One)]));

function givenInQuery(query: URLSearchParams): Given {
  return Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
}

/** Of a body. Throws CommandError (2). */
function givenInBody(text: string): Given {
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
async function readBody(
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
