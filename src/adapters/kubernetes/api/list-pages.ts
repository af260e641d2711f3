/**
 * A LIST in pages: all of them or nothing (faults 35); and the Warnings about one pod, which are one bounded page.
 *
 * A failure or a 410 on any page makes the whole `unavailable`; so does a server that asks to wait, or one that never
 * stops continuing. Items are kept as the caller wants them, page by page, so that a large namespace need not fit twice.
 */
import { defined } from '@rollcall/base/defined.ts';
import { type JsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { BackPressure } from '@rollcall/base/wait.ts';
import type { LiveRead, Unavailable } from '../../../ports/cluster/cluster-access.ts';
import type { TransportAnswer, TransportRequest } from '../transport/transport.ts';
import { isObjectName, namespacedPath } from './effect-request.ts';
import { readPage } from './object-reader.ts';
import { unavailableRead } from './status-classifier.ts';
import type { PodEvent } from '../../../core/model/projections.ts';

const PAGE_LIMIT = 500;
/** 500,000 objects: beyond any namespace; ends a server that never stops continuing. */
const PAGES_MAX = 1000;

/** The objects to list; by default all objects of all namespaces. */
export interface ListQuery {
  readonly namespace?: string;
  readonly path: string;
  readonly labelSelector?: string;
  readonly accept?: string;
  /** The part of each item that is kept once its page was read; default: all of it. */
  readonly keep?: (item: JsonObject) => JsonObject;
}

/** How a page is asked for, and what knows whether the server wants to be left alone. */
export interface ListMeans {
  readonly send: (request: TransportRequest) => Promise<TransportAnswer>;
  readonly pressure: Pick<BackPressure, 'remainingMs'>;
}

/** A text that is no name is not asked for: it could lead elsewhere. */
export const NOT_A_NAME: Unavailable = {
  kind: 'unavailable',
  message: 'not an object name',
  isRefused: true,
};

/** The answer while the server wants to be left alone. */
export function waiting(retryAfterMs: number): Unavailable {
  const message = 'the API server asked to wait';
  return { kind: 'unavailable', message, isRefused: false, retryAfterMs };
}

/** Lists the items of all pages. */
export async function listPages(
  query: ListQuery,
  { send, pressure }: ListMeans,
): Promise<LiveRead<readonly JsonObject[]>> {
  const { namespace, keep } = query;
  if (namespace !== undefined && !isObjectName(namespace)) return NOT_A_NAME;
  const items: JsonObject[] = [];
  let continueToken = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const pauseMs = pressure.remainingMs();
    if (pauseMs > 0) return waiting(pauseMs);
    const answer = await send(pageRequest(query, continueToken));
    const isList = answer.kind === 'answered' && answer.status === 200;
    const read = isList ? readPage(answer.body) : undefined;
    if (read === undefined) return unavailableRead(answer, 'not a list');
    items.push(...(keep === undefined ? read.items : read.items.map(keep)));
    if (read.continueToken === '') return { kind: 'found', object: items };
    continueToken = read.continueToken;
  }
  return { kind: 'unavailable', message: 'the list does not end', isRefused: false };
}

function pageRequest(
  { path, labelSelector = '', accept }: ListQuery,
  continueToken: string,
): TransportRequest {
  const parameters = new URLSearchParams({ limit: String(PAGE_LIMIT) });
  if (labelSelector !== '') parameters.set('labelSelector', labelSelector);
  if (continueToken !== '') parameters.set('continue', continueToken);
  return { method: 'GET', path: `${path}?${parameters.toString()}`, ...defined({ accept }) };
}

const EVENTS_MAX = 20;
const MESSAGE_CHARACTERS_MAX = 1024;
const TIMEOUT_MS = 5_000;
/** A text that is no UID could change the selector. */
const UID_PATTERN = /^[0-9A-Za-z-]{1,64}$/;

/**
 * Lists the Warnings about a pod (ADR 0055). An API server finds them by going through the Events of the namespace, so
 * this is asked for a few pods of a rollout that is about to halt. They repeat by a count, so one page has all that matters.
 */
export async function readPodEvents(
  of: { readonly namespace: string; readonly uid: string },
  { send, pressure }: ListMeans,
): Promise<LiveRead<readonly PodEvent[]>> {
  const { namespace, uid } = of;
  if (!isObjectName(namespace) || !UID_PATTERN.test(uid)) return NOT_A_NAME;
  const pauseMs = pressure.remainingMs();
  if (pauseMs > 0) return waiting(pauseMs);
  const query = new URLSearchParams({
    fieldSelector: `involvedObject.uid=${uid},type=Warning`,
    limit: String(EVENTS_MAX),
  });
  const path = `${namespacedPath('core', namespace, 'events')}?${query.toString()}`;
  const answer = await send({ method: 'GET', path, timeoutMs: TIMEOUT_MS });
  const isList = answer.kind === 'answered' && answer.status === 200;
  const page = isList ? readPage(answer.body) : undefined;
  if (page === undefined) return unavailableRead(answer, 'not a list');
  return { kind: 'found', object: page.items.flatMap(readEvent) };
}

function readEvent(item: JsonObject): readonly PodEvent[] {
  const { reason, message } = item;
  if (typeof reason !== 'string') return [];
  const text = typeof message === 'string' ? message.slice(0, MESSAGE_CHARACTERS_MAX) : '';
  const atMs = timeOf(item);
  return [{ reason, message: text, ...(atMs === undefined ? {} : { atMs }) }];
}

/** Of a series its last; of an Event of the newer API its eventTime. */
function timeOf(item: JsonObject): number | undefined {
  const told = [
    jsonMember(item['series'], 'lastObservedTime'),
    item['lastTimestamp'],
    item['eventTime'],
    item['firstTimestamp'],
  ];
  return told
    .map((each) => (typeof each === 'string' ? Date.parse(each) : Number.NaN))
    .find((atMs) => !Number.isNaN(atMs));
}
