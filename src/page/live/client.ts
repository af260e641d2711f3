/**
 * Requests to the server of the page: a command by its words, its document or its refusal as a value.
 *
 * The token came in the address's fragment, is kept for this tab, and is sent in a header, so that no log has it.
 */
import type { CommandError } from '../model/documents.ts';

/** What came of a request. `absent`: this server has no such command. */
export type Answered<Document> =
  | { readonly kind: 'document'; readonly document: Document }
  | { readonly kind: 'error'; readonly error: CommandError }
  | { readonly kind: 'absent' };

export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

const TOKEN_KEY = 'rollcall-token';
const ANSWER_MS_MAX = 60_000;
const UNREACHABLE = {
  GET: {
    message: 'rollcall ui does not answer',
    remedy: 'Is it still running? The page tries again by itself.',
  },
  POST: {
    message: 'rollcall ui does not answer',
    remedy: 'Is it still running? It may have acted all the same: look before you ask again.',
  },
} as const;

/** Takes the token out of the address, and keeps it for this tab. */
export function takeToken(location: Location, history: History): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return sessionStorage.getItem(TOKEN_KEY) ?? '';
  sessionStorage.setItem(TOKEN_KEY, token);
  history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** Asks the server. */
export class Client {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  /** A command that only looks. Rejects with an AbortError alone. */
  look<Document>(
    words: string,
    parameters: Parameters = {},
    signal?: AbortSignal,
  ): Promise<Answered<Document>> {
    const given = Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    );
    const query = new URLSearchParams(given).toString();
    return this.#ask(`${words}${query === '' ? '' : `?${query}`}`, { method: 'GET' }, signal);
  }

  /** A command that changes something, or takes a document. */
  order<Document>(words: string, parameters: Parameters): Promise<Answered<Document>> {
    const init = {
      method: 'POST' as const,
      body: JSON.stringify(parameters),
      headers: { 'content-type': 'application/json' },
    };
    return this.#ask(words, init);
  }

  /** The stream of events from the one after `lastId` on. Rejects where there is no connection. */
  openEvents(lastId: string | undefined, signal: AbortSignal): Promise<Response> {
    const headers = {
      ...this.#headers(),
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    };
    return fetch('/api/v1/events', { headers, signal, cache: 'no-store' });
  }

  #headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}` };
  }

  async #ask<Document>(
    path: string,
    init: RequestInit & {
      readonly method: keyof typeof UNREACHABLE;
      readonly headers?: Readonly<Record<string, string>>;
    },
    signal?: AbortSignal,
  ): Promise<Answered<Document>> {
    const deadline = AbortSignal.timeout(ANSWER_MS_MAX);
    try {
      const response = await fetch(`/api/v1/${path}`, {
        ...init,
        cache: 'no-store',
        headers: { ...init.headers, ...this.#headers() },
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      return answerOf<Document>(response.status, await response.text());
    } catch (error) {
      if (signal?.aborted === true) throw error;
      return { kind: 'error', error: UNREACHABLE[init.method] };
    }
  }
}

function answerOf<Document>(status: number, text: string): Answered<Document> {
  const body = parsed(text);
  if (status === 404) return { kind: 'absent' };
  const error = errorIn(body);
  if (error !== undefined) return { kind: 'error', error };
  // The server's own document: its shape is made by the type that is asked for.
  if (status < 400 && body !== undefined) return { kind: 'document', document: body as Document };
  const message = `rollcall ui answered ${String(status)}`;
  return { kind: 'error', error: { message, remedy: 'Look at what it prints.' } };
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function errorIn(body: unknown): CommandError | undefined {
  const isError =
    typeof body === 'object' && body !== null && 'kind' in body && body.kind === 'CommandError';
  return isError ? (body as unknown as CommandError) : undefined; // its kind was looked at
}
