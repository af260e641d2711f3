// An event bus over loopback HTTP: PutEvents of EventBridge in AWS JSON 1.1, and what was put, to be read back.
//
// Assumes clients on this machine. Where an authorizer is given a request must be signed, and has the rights of who signed it; else anybody may
// put. Binds 127.0.0.1 alone. In memory, the newest EVENTS_MAX of them: a bus keeps nothing either, it hands on.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Authorizer } from '../iam/authorizer.ts';
import { startLoopbackServer } from '../server/loopback-server.ts';
import type { LoopbackServer } from '../server/loopback-server.ts';
import { localAccountId } from '../sqs/server/broker.ts';
import { busOf, entriesOf, judgePut } from './put-events.ts';
import type { DeliveredEvent } from './put-events.ts';

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

const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
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
    bodyBytesMax: REQUEST_BYTES_MAX,
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
