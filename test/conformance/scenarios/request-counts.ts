/**
 * What Rollcall may ask of the API server while it makes one DaemonSet on many nodes, in counts by verb and resource.
 *
 * Writes are judged in every try. Reads of pods and nodes one by one happen only where the view is 30 s behind and is
 * not believed: a try with such reads says nothing of reads, is told, and is made again as often as is said. Pure.
 */
import type { AuditRecord } from '../control-plane/audit.ts';

/** What the functions asked for while one DaemonSet was made; events are left out. */
export interface Try {
  readonly nodesCount: number;
  readonly requests: readonly AuditRecord[];
}

/** `again`: the view was behind, and what was read says nothing. */
export type TryVerdict =
  | { readonly kind: 'passed' | 'again' }
  | { readonly kind: 'failed'; readonly why: readonly string[] };

/** For each pod, with all that is asked besides, such as status writes and a look at the DaemonSet for each batch. */
const REQUESTS_PER_POD_MAX = 1.1;
/** Of a small DaemonSet that is more than a tenth: batches and statuses do not become fewer in proportion. */
const BESIDES_MAX = 40;

export function judgeTry(made: Try, tries: { readonly left: number }): TryVerdict {
  const writes = findWrongWrites(made);
  if (writes.length > 0) return { kind: 'failed', why: writes };
  const lagged = made.requests.filter(isLiveRead);
  if (lagged.length > 0 && tries.left > 0) return { kind: 'again' };
  const why = [
    ...(lagged.length > 0
      ? [`${String(lagged.length)} live reads: the view lagged in each try`]
      : []),
    ...findWrongReads(made),
  ];
  return why.length > 0 ? { kind: 'failed', why } : { kind: 'passed' };
}

function findWrongWrites({ nodesCount, requests }: Try): readonly string[] {
  const created = requests.filter((one) => isCreate(one) && one.code < 300);
  const deletes = requests.filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');
  const writes = requests.filter(({ verb }) => !READING.has(verb));
  return [
    ...(created.length === nodesCount ? [] : [`${String(created.length)} pods were created`]),
    ...(deletes.length === 0 ? [] : [`${String(deletes.length)} pods were deleted`]),
    ...(writes.length <= requestsMax(nodesCount) ? [] : [`${String(writes.length)} writes`]),
  ];
}

function findWrongReads({ nodesCount, requests }: Try): readonly string[] {
  const lists = requests.filter(
    ({ verb, resource }) => verb === 'list' && (resource === 'nodes' || resource === 'pods'),
  );
  const firstCreateAtMs = Math.min(...requests.filter(isCreate).map((one) => one.receivedAtMs));
  const isEarlyListOfPods = ({ resource, completedAtMs }: AuditRecord): boolean =>
    resource === 'pods' && completedAtMs <= firstCreateAtMs;
  const uris = lists.map(({ requestUri }) => requestUri).join(' ');
  // One (protocol 9); a second where the first run lost the lock before it created anything.
  const isRight = (lists.length === 1 || lists.length === 2) && lists.every(isEarlyListOfPods);
  return [
    ...(isRight ? [] : [`LISTs other than one before the first pods: ${uris}`]),
    ...(requests.length <= requestsMax(nodesCount)
      ? []
      : [`${String(requests.length)} requests for ${String(nodesCount)} pods`]),
  ];
}

/** How many requests that many pods may cost. */
function requestsMax(nodesCount: number): number {
  return nodesCount + Math.max(BESIDES_MAX, Math.round(nodesCount * (REQUESTS_PER_POD_MAX - 1)));
}

const READING = new Set(['get', 'list', 'watch']);

function isCreate({ verb, resource }: AuditRecord): boolean {
  return verb === 'create' && resource === 'pods';
}

/** Nothing is deleted here, so pods and nodes are read one by one only where the view is not believed. */
function isLiveRead({ verb, resource }: AuditRecord): boolean {
  return verb === 'get' && (resource === 'pods' || resource === 'nodes');
}
