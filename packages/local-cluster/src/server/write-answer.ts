/**
 * Writes the handler's answers to an HTTP response: objects, texts and watches.
 *
 * A watch is one JSON line for each frame, chunked, until the client leaves, the handler ends it, or the client reads so
 * slowly that too much waits in memory: then the connection is cut, and the client starts again where it was.
 */
import type { ServerResponse } from 'node:http';
import type { ApiAnswer, WatchFrame } from '../api/request/api-request.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { jsonText } from './json-text.ts';

/** How answers are written. */
export interface AnswerContext {
  /** Bytes that may wait for a slow watcher. */
  readonly watchBacklogBytesMax: number;
  /** Told of every watch that begins; the returned function is called when it has ended. */
  readonly onWatch: (end: () => void) => Cancel;
}

/** Writes an answer; a watch goes on after this returns. */
export function writeAnswer(
  response: ServerResponse,
  answer: ApiAnswer,
  context: AnswerContext,
): void {
  switch (answer.kind) {
    case 'object':
      writeObject(response, answer);
      return;
    case 'text':
      writeText(response, { ...answer, headers: {} });
      return;
    case 'watch':
      writeWatch(response, answer.open, context);
      return;
  }
}

function writeObject(
  response: ServerResponse,
  answer: Extract<ApiAnswer, { kind: 'object' }>,
): void {
  const { status, body, warnings = [], retryAfterSeconds } = answer;
  writeText(response, {
    status,
    contentType: 'application/json',
    text: `${jsonText(body)}\n`,
    headers: {
      ...(warnings.length === 0 ? {} : { warning: warnings.map(warningHeader) }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
  });
}

function writeText(
  response: ServerResponse,
  answer: {
    readonly status: number;
    readonly contentType: string;
    readonly text: string;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
  },
): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    'cache-control': 'no-cache, private',
    'content-type': answer.contentType,
    'content-length': Buffer.byteLength(answer.text),
  });
  response.end(answer.text);
}

/** RFC 9110 warn-value with code 299 and no agent, as client-go parses it. */
function warningHeader(text: string): string {
  const visible = text.replaceAll(/[^\x20-\x7e]+/g, ' ');
  return `299 - "${visible.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function writeWatch(
  response: ServerResponse,
  open: Extract<ApiAnswer, { kind: 'watch' }>['open'],
  context: AnswerContext,
): void {
  response.writeHead(200, {
    'cache-control': 'no-cache, private',
    'content-type': 'application/json',
  });
  response.flushHeaders();
  const watch = { isOver: false, cancel: (): void => undefined };
  const finish = (): void => {
    if (watch.isOver) return;
    watch.isOver = true;
    watch.cancel();
    forget();
  };
  const end = (): void => {
    finish();
    response.end();
  };
  const forget = context.onWatch(end);
  response.once('close', finish);
  const cancel = open({
    frame: (frame) => {
      if (watch.isOver) return;
      response.write(frameLine(frame));
      if (response.writableLength <= context.watchBacklogBytesMax) return;
      finish();
      response.destroy();
    },
    end,
  });
  // It may have ended while it was opened, before there was anything to cancel.
  if (watch.isOver) cancel();
  else watch.cancel = cancel;
}

function frameLine({ type, object }: WatchFrame): string {
  return `{"type":"${type}","object":${jsonText(object)}}\n`;
}
