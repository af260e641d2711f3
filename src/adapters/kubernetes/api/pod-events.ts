/**
 * The Warnings about one pod, by one bounded list: what a kubelet says of volumes and sandboxes stands nowhere else (ADR 0055).
 *
 * An API server finds them by going through the Events of the namespace, so this is asked for a few pods of a rollout that is
 * about to halt, and for nothing else. A pod's Warnings repeat themselves by a count, so one page has all that matters.
 */
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import type { PodEvent } from '../../../core/model/projections.ts';
import type { LiveRead } from '../../../ports/cluster/cluster-access.ts';
import { isObjectName, namespacedPath } from './effect-request.ts';
import { NOT_A_NAME, waiting, type ListMeans } from './list-pages.ts';
import { readPage } from './object-reader.ts';
import { unavailableRead } from './status-classifier.ts';

const EVENTS_MAX = 20;
const MESSAGE_CHARACTERS_MAX = 1024;
const TIMEOUT_MS = 5_000;
/** What is no UID could change the selector. */
const UID_PATTERN = /^[0-9A-Za-z-]{1,64}$/;

/** Lists the Warnings about a pod. */
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
