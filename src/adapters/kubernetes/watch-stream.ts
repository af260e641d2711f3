/**
 * One watch stream: a long HTTP answer, cut into lines, parsed once, classified.
 *
 * Ends with exactly one `failed` or `ended` frame. It sets no timer: the watcher measures silence by
 * `onBytes` and aborts. Decompression and back-pressure are left to the stream machinery.
 */
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Agent } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { isResourceVersion } from '../../core/model/identifiers.ts';
import { isJsonObject } from '../../core/model/json.ts';
import type { JsonObject } from '../../core/model/json.ts';
import type { KubernetesObject } from '../../core/model/kubernetes.ts';
import type { SourceFailure, WatchFrame, WatchOptions } from '../../ports/watch-source.ts';
import { readStatus } from './api-status.ts';
import type { Endpoint } from './endpoint.ts';
import { readBody } from './response-body.ts';
import { parseRetryAfterMs } from './retry-after.ts';
import { classifyStatus } from './watch-status.ts';

/** What a stream connects with. */
export interface WatchConnection {
  readonly endpoint: Endpoint;
  readonly agent: Agent;
  /** The current bearer token; undefined where a client certificate identifies the watcher. */
  readonly token: () => Promise<string | undefined>;
  readonly nowMs: () => number;
}

const ERROR_BYTES_MAX = 64 * 1024;
const LINE_LENGTH_MAX = 8 * 1024 * 1024;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Opens a stream and yields its frames. */
export async function* openWatchStream(
  connection: WatchConnection,
  path: string,
  options: WatchOptions,
): AsyncGenerator<WatchFrame> {
  let response: IncomingMessage;
  try {
    response = await open(connection, path, options.signal);
  } catch (error) {
    yield { kind: 'failed', failure: { kind: 'unavailable', message: describe(error) } };
    return;
  }
  if (response.statusCode !== 200) {
    yield { kind: 'failed', failure: await readFailure(response, connection) };
    return;
  }
  try {
    for await (const line of linesOf(response, options.onBytes)) {
      const frame = readFrame(line);
      yield frame;
      if (frame.kind === 'failed') return;
    }
    yield { kind: 'ended' };
  } catch (error) {
    yield { kind: 'failed', failure: { kind: 'unavailable', message: describe(error) } };
  } finally {
    response.destroy();
  }
}

async function open(
  connection: WatchConnection,
  path: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const token = await connection.token();
  const { endpoint, agent } = connection;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      host: endpoint.host,
      port: endpoint.port,
      path: endpoint.pathPrefix + path,
      agent,
      signal,
      headers: {
        accept: 'application/json',
        'user-agent': 'rollcall-watcher',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      response.socket.setNoDelay(true);
      resolve(response);
    });
    outgoing.end();
  });
}

async function readFailure(
  response: IncomingMessage,
  connection: WatchConnection,
): Promise<SourceFailure> {
  const status = response.statusCode ?? 0;
  const retryAfterMs = parseRetryAfterMs(response.headers['retry-after'], connection.nowMs());
  const kind = classifyStatus(status);
  let message = `HTTP ${String(status)}`;
  try {
    const body = JSON.parse(await readBody(response, ERROR_BYTES_MAX)) as JsonObject;
    message = readStatus(body)?.message ?? message;
  } catch (error) {
    message = `${message} (${describe(error)})`;
  }
  return { kind, message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

async function* linesOf(response: IncomingMessage, onBytes: () => void): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of response) {
    onBytes();
    rest += decoder.write(chunk as Buffer);
    let from = 0;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', from)) {
      if (end > from) yield rest.slice(from, end);
      from = end + 1;
    }
    rest = rest.slice(from);
    if (rest.length > LINE_LENGTH_MAX) throw new Error('a line of the watch is too long');
  }
}

/** One line as a frame; what cannot be read is `undecodable`, never an exception. */
function readFrame(line: string): WatchFrame {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    return { kind: 'undecodable', message: describe(error) };
  }
  const object = isJsonObject(event) ? event['object'] : undefined;
  if (!isJsonObject(event) || !isJsonObject(object)) {
    return { kind: 'undecodable', message: 'an event without an object' };
  }
  switch (event['type']) {
    case 'ADDED':
      return { kind: 'added', object: asObject(object) };
    case 'MODIFIED':
      return { kind: 'modified', object: asObject(object) };
    case 'DELETED':
      return { kind: 'deleted', object: asObject(object) };
    case 'BOOKMARK':
      return readBookmark(object);
    case 'ERROR':
      return { kind: 'failed', failure: readErrorEvent(object) };
    default:
      return { kind: 'undecodable', message: 'an event of an unknown type' };
  }
}

/** The caller projects it at once and judges it there. */
function asObject(object: JsonObject): KubernetesObject {
  return object as unknown as KubernetesObject; // raw on purpose
}

function readBookmark(object: JsonObject): WatchFrame {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const version = metadata['resourceVersion'];
  if (!isResourceVersion(version)) {
    return { kind: 'undecodable', message: 'a bookmark without a version' };
  }
  const annotations = isJsonObject(metadata['annotations']) ? metadata['annotations'] : {};
  return {
    kind: 'bookmark',
    resourceVersion: version,
    isInitialEventsEnd: annotations[INITIAL_EVENTS_END] === 'true',
  };
}

function readErrorEvent(object: JsonObject): SourceFailure {
  const status = readStatus(object);
  const code = typeof object['code'] === 'number' ? object['code'] : 500;
  const retryAfterMs = status?.retryAfterMs;
  return {
    kind: classifyStatus(code),
    message: status?.message ?? `error event ${String(code)}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** A short name for a failure, free of anything that the other side chose. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : error.name;
}
