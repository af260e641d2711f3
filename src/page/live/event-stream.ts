/**
 * Follows the server's events: opens the stream, opens it again after it broke, and says so meanwhile.
 *
 * One stream for the page. It waits a little longer after each failure, up to a bound, and ends when it is stopped or refused.
 */
import { liveEventOf, NOTHING_LIVE, reduceLive } from '../model/live-state.ts';
import type { LiveEvent, LiveState } from '../model/live-state.ts';
import { parseStream } from '../model/parse-stream.ts';
import type { Client } from './client.ts';
import { createStore } from './store.ts';
import type { Store } from './store.ts';

const AGAIN_MS = 500;
const AGAIN_MS_MAX = 8_000;
/** One event is a map at most; more without an end is no stream of ours. */
const TEXT_MAX = 64_000_000;

type Ending = Extract<LiveEvent, { readonly kind: 'closed' | 'refused' }>;

/** The live state, kept up to date until the signal aborts. */
export function followEvents(client: Client, signal: AbortSignal): Store<LiveState> {
  const store = createStore(NOTHING_LIVE);
  const tell = (event: LiveEvent): void => {
    store.set(reduceLive(store.get(), event));
  };
  void keepOpen(client, tell, signal);
  return store;
}

async function keepOpen(
  client: Client,
  tell: (event: LiveEvent) => void,
  signal: AbortSignal,
): Promise<void> {
  let lastId: string | undefined;
  let pauseMs = AGAIN_MS;
  const onId = (id: string): void => {
    lastId = id;
    pauseMs = AGAIN_MS;
  };
  while (!signal.aborted) {
    const ending = await readOnce({ client, lastId, tell, onId, signal });
    if (signal.aborted) return;
    tell(ending);
    if (ending.kind === 'refused') return;
    await pause(pauseMs, signal);
    pauseMs = Math.min(AGAIN_MS_MAX, pauseMs * 2);
  }
}

interface Reading {
  readonly client: Client;
  readonly lastId: string | undefined;
  readonly tell: (event: LiveEvent) => void;
  readonly onId: (id: string) => void;
  readonly signal: AbortSignal;
}

/** Reads one stream to its end. Never rejects: what broke it is its ending. */
async function readOnce({ client, lastId, tell, onId, signal }: Reading): Promise<Ending> {
  try {
    const response = await client.openEvents(lastId, signal);
    if (response.status === 401 || response.status === 403) {
      return {
        kind: 'refused',
        why: `its token is not the server's (${String(response.status)}).`,
      };
    }
    if (!response.ok || response.body === null) {
      return { kind: 'closed', why: `it answered ${String(response.status)}` };
    }
    tell({ kind: 'opened' });
    let text = '';
    for await (const part of chunksOf(response.body)) {
      const { events, rest } = parseStream(text + part);
      text = rest;
      if (text.length > TEXT_MAX) return { kind: 'closed', why: 'an event is too large' };
      for (const event of events) {
        if (event.id !== undefined) onId(event.id);
        const told = liveEventOf(event, Date.now());
        if (told !== undefined) tell(told);
      }
    }
    return { kind: 'closed', why: 'the server ended it' };
  } catch (error) {
    return { kind: 'closed', why: error instanceof Error ? error.message : String(error) };
  }
}

/** Browsers do not all iterate streams. */
async function* chunksOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, durationMs);
    signal.addEventListener('abort', finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
  });
}
