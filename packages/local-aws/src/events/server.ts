// An event bus over loopback HTTP: PutEvents of EventBridge in AWS JSON 1.1, and what was put, to be read back.
//
// Assumes clients on this machine. Where an authorizer is given a request must be signed, and has the rights of its signer; else every caller may
// put. Binds 127.0.0.1 alone. In memory, the newest EVENTS_MAX of them: a bus keeps nothing either, it hands on. An entry is judged
// by itself, beside others that are taken; rules, archives and schedules are not here.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Authorizer } from '../iam/authorizer.ts';
import { startLoopbackServer } from '../server/loopback-server.ts';
import type { LoopbackServer } from '../server/loopback-server.ts';
import { localAccountId } from '../sqs/server/broker.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';

/** How the bus is set up. */
export interface EventsServerOptions {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly newId: () => string;
  readonly region?: string;
  /** Who may put on which bus; everybody if absent. */
  readonly authorizer?: Authorizer | undefined;
}

/** A running bus. */
export interface EventsServer extends LoopbackServer {
  /** What was put on a bus, the oldest first. */
  events(busName?: string): readonly DeliveredEvent[];
}

/** Events that are kept. */
export const EVENTS_MAX = 10_000;

const BODY_BYTES_MAX = 4 * 1024 * 1024;
const TARGET = 'AWSEvents.PutEvents';

/** The ARN of a bus of this account. */
export function busArnOf(region: string, busName: string): string {
  return `arn:aws:events:${region}:${localAccountId}:event-bus/${busName}`;
}

/** Starts it. */
export async function startEventsServer(options: EventsServerOptions): Promise<EventsServer> {
  const { region = 'us-east-1' } = options;
  const kept: { readonly bus: string; readonly event: DeliveredEvent }[] = [];
  const server = await startLoopbackServer({
    bodyBytesMax: BODY_BYTES_MAX,
    answer: ({ request, response, body: sent }) => {
      const { status, body, events = [] } = answerTo(request, sent, { ...options, region });
      kept.push(...events);
      kept.splice(0, Math.max(0, kept.length - EVENTS_MAX));
      send(response, { status, body, requestId: options.newId() });
    },
  });
  return {
    ...server,
    events: (busName = 'default') =>
      kept.filter(({ bus }) => bus === busName).map(({ event }) => event),
  };
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly events?: readonly { readonly bus: string; readonly event: DeliveredEvent }[];
}

function answerTo(
  { method, url, headers }: IncomingMessage,
  sent: Buffer,
  { region, clock, newId, authorizer }: EventsServerOptions & { readonly region: string },
): Answer {
  const refuse = (type: string, message: string): Answer => ({
    ...{ status: 400 },
    body: { __type: type, message },
  });
  if (method !== 'POST' || headers['x-amz-target'] !== TARGET) {
    return refuse('UnknownOperationException', 'Only PutEvents is understood here.');
  }
  const signer = authorizer?.signerOf({ method, url, headers, body: sent });
  if (authorizer !== undefined && signer === undefined) {
    return refuse('UnrecognizedClientException', 'The security token is invalid.');
  }
  const entries = entriesOf(parsed(sent.toString('utf8')));
  if (entries === undefined) return refuse('SerializationException', 'The request has no entries.');
  for (const entry of entries) {
    const resourceArn = busArnOf(region, busOf(entry));
    const decision = authorizer?.decide(signer, { action: 'events:PutEvents', resourceArn });
    if (decision?.kind === 'denied') return refuse('AccessDeniedException', decision.message);
  }
  const place = { account: localAccountId, region, nowMs: clock.nowMs(), newId };
  const judged = judgePut(entries, place);
  if (judged.kind === 'refused') return refuse(judged.type, judged.message);
  const { results, events } = judged;
  const FailedEntryCount = results.filter((result) => 'ErrorCode' in result).length;
  return { status: 200, body: { FailedEntryCount, Entries: results }, events };
}

function send(
  response: ServerResponse,
  { status, body, requestId }: Answer & { readonly requestId: string },
): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'Content-Type': 'application/x-amz-json-1.1',
      'Content-Length': Buffer.byteLength(text),
      'x-amzn-RequestId': requestId,
    })
    .end(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON has no entries.
    return undefined;
  }
}

/** An event as a target of a rule gets it. */
export interface DeliveredEvent {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  /** Whole seconds. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: JsonObject;
}

/** What became of one entry. */
type EntryResult =
  { readonly EventId: string } | { readonly ErrorCode: string; readonly ErrorMessage: string };

/** What becomes of a request. */
type PutJudgement =
  | {
      readonly kind: 'judged';
      readonly results: readonly EntryResult[];
      /** By the name of their bus. */
      readonly events: readonly { readonly bus: string; readonly event: DeliveredEvent }[];
    }
  | { readonly kind: 'refused'; readonly type: string; readonly message: string };

/** Where and when a request arrives. */
interface PutPlace {
  readonly account: string;
  readonly region: string;
  readonly nowMs: number;
  readonly newId: () => string;
}

const ENTRIES_MAX = 10;
const REQUEST_BYTES_MAX = 262_144;

/** The entries of a request; undefined: it has none that can be read. */
function entriesOf(request: unknown): readonly JsonObject[] | undefined {
  const entries = isJsonObject(request) ? request['Entries'] : undefined;
  return Array.isArray(entries) && entries.every(isJsonObject) ? entries : undefined;
}

/** The bus that an entry names. */
function busOf({ EventBusName: name }: JsonObject): string {
  if (typeof name !== 'string' || name === '') return 'default';
  return name.slice(name.lastIndexOf('/') + 1);
}

/** Judges a request. */
function judgePut(entries: readonly JsonObject[], place: PutPlace): PutJudgement {
  const refuse = (message: string): PutJudgement => ({
    ...{ kind: 'refused', type: 'ValidationException' },
    message,
  });
  const { length } = entries;
  if (length === 0 || length > ENTRIES_MAX) {
    return refuse(
      `1 validation error detected: Value '${String(length)}' at 'entries' failed to satisfy constraint: Member must have length between 1 and ${String(ENTRIES_MAX)}`,
    );
  }
  const bytes = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (bytes > REQUEST_BYTES_MAX) {
    return refuse('Total size of the entries in the request is over the limit.');
  }
  const judged = entries.map((entry) => ({ bus: busOf(entry), result: judgeEntry(entry, place) }));
  return {
    kind: 'judged',
    results: judged.map(({ result }) =>
      'event' in result ? { EventId: result.event.id } : result,
    ),
    events: judged.flatMap(({ bus, result }) =>
      'event' in result ? [{ bus, event: result.event }] : [],
    ),
  };
}

function sizeOf(entry: JsonObject): number {
  const texts = ['Source', 'DetailType', 'Detail'].map((name) => entry[name]);
  const around = entry['Time'] === undefined ? 0 : 14;
  return texts.reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0),
    around,
  );
}

type Judged =
  | { readonly event: DeliveredEvent }
  | { readonly ErrorCode: string; readonly ErrorMessage: string };

function judgeEntry(entry: JsonObject, place: PutPlace): Judged {
  const refuse = (ErrorCode: string, ErrorMessage: string): Judged => ({ ErrorCode, ErrorMessage });
  const [source, type, text] = ['Source', 'DetailType', 'Detail'].map((name) => entry[name]);
  if (!isText(source) || !isText(type) || !isText(text)) {
    return refuse('InvalidArgument', 'Source, DetailType and Detail are required arguments.');
  }
  if (source.startsWith('aws.')) {
    return refuse('NotAuthorizedForSourceException', 'Not authorized for the source.');
  }
  const detail = detailOf(text);
  if (detail === undefined) return refuse('MalformedDetail', 'Detail is malformed.');
  const { Resources, Time } = entry;
  return {
    event: {
      version: '0',
      id: place.newId(),
      'detail-type': type,
      source,
      account: place.account,
      time: timeOf(Time, place.nowMs),
      region: place.region,
      resources: Array.isArray(Resources) ? Resources.filter(isText) : [],
      detail,
    },
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function detailOf(text: string): JsonObject | undefined {
  try {
    const detail: unknown = JSON.parse(text);
    return isJsonObject(detail) ? detail : undefined;
  } catch {
    // What is no JSON is told as MalformedDetail.
    return undefined;
  }
}

function timeOf(seconds: unknown, nowMs: number): string {
  const atMs = typeof seconds === 'number' ? seconds * 1000 : nowMs;
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
