/**
 * Holds the newest status of each pod and brings it to the API: GET, then a strategic PATCH on /status (spec node-agent
 * 4c), then, for a terminating pod whose work is done, the final DELETE with grace 0 and the UID as precondition (8).
 *
 * One write per pod is under way at a time; what changes meanwhile goes out with the next, so that only the newest
 * status is written. Unchanged statuses are skipped. A failed write is tried again when the status changes, at the
 * latest after ten seconds. Invariant: the API never sees a pod leave Succeeded or Failed.
 *
 *   set ──▶ GET ──▶ merge ──▶ PATCH ──▶ finished and terminating? ──▶ DELETE
 *   set …… (kept) ……………………▶ again from GET
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Status } from '../../api/request/api-request.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { ApiObject, ObjectRef } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import { isMirrorPod, isTerminalPhase, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject, PodStatus } from '../shared/pod-object.ts';
import { finalStatus } from './final-status.ts';
import { mergeStatus } from './merge-status.ts';
import { statusPatch } from './status-patch.ts';
import { isSameOwnStatus, withTransitions } from './transitions.ts';

/** What the status manager needs. */
export interface StatusManagerOptions {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Could a container of this pod still run? */
  readonly couldRun: (podUid: string) => boolean;
  /** UID of the pod in the API: of its mirror for a static pod; undefined while there is none. */
  readonly apiUidOf: (pod: PodObject) => string | undefined;
}

/** The status manager of one agent. */
export interface StatusManager {
  /** The newest status, written or not. */
  readonly get: (podUid: string) => PodStatus | undefined;
  /** Takes a status that was generated for this pod. */
  readonly set: (pod: PodObject, status: PodStatus) => void;
  /** The pod's work is done: containers, sandbox, volumes and cgroup are gone. */
  readonly terminate: (pod: PodObject) => void;
  /** The API holds this now: what somebody else has overwritten is written again, ten seconds later. */
  readonly check: (pod: PodObject) => void;
  /** Looks at once whether the API holds what it should: a new mirror, a deletion. */
  readonly reconcile: (pod: PodObject) => void;
  readonly forget: (podUid: string) => void;
  readonly podUids: () => readonly string[];
  /** Resolves when nothing is being written. */
  readonly idle: () => Promise<void>;
}

interface Entry {
  pod: PodObject;
  status: PodStatus;
  version: number;
  writtenVersion: number;
  isFinished: boolean;
  isWriting: boolean;
  cancelRetry: Cancel | undefined;
}

type WriteOutcome = 'done' | 'gone' | 'failed';

const RETRY_MS = 10_000;

/** Starts with no pods. */
export function createStatusManager(options: StatusManagerOptions): StatusManager {
  const { clock } = options;
  const entries = new Map<string, Entry>();
  const { start, retryLater, idle } = createWriter(options, entries);

  const update = (pod: PodObject, change: StatusChange): void => {
    const known = entries.get(uidOf(pod));
    const before = known?.status ?? pod.status ?? {};
    const status = withTransitions(before, change.status, formatTime(clock.nowMs()));
    const isSame = known !== undefined && isSameOwnStatus(known.status, status);
    if (isSame && !change.isForced) return;
    const entry = known ?? newEntry(pod, status);
    entries.set(uidOf(pod), entry);
    entry.pod = pod;
    if (!isSame) entry.status = status;
    entry.version += 1;
    entry.isFinished ||= change.isFinished;
    start(entry);
  };

  return {
    get: (uid) => entries.get(uid)?.status,
    set: (pod, status) => {
      const isForced = pod.metadata.deletionTimestamp !== undefined;
      update(pod, { status, isFinished: false, isForced });
    },
    terminate: (pod) => {
      const status = finalStatus(pod, entries.get(uidOf(pod))?.status ?? pod.status ?? {});
      update(pod, { status, isFinished: true, isForced: true });
    },
    check: (pod) => {
      const entry = entries.get(uidOf(pod));
      if (entry === undefined) return;
      entry.pod = pod;
      const isPending = entry.isWriting || entry.cancelRetry !== undefined;
      if (isPending || patchFor(options, entry, pod) === undefined) return;
      entry.version += 1;
      retryLater(entry);
    },
    reconcile: (pod) => {
      const entry = entries.get(uidOf(pod));
      if (entry === undefined) return;
      entry.pod = pod;
      entry.version += 1;
      start(entry);
    },
    forget: (uid) => {
      entries.get(uid)?.cancelRetry?.();
      entries.delete(uid);
    },
    podUids: () => [...entries.keys()],
    idle,
  };
}

interface StatusChange {
  readonly status: PodStatus;
  readonly isFinished: boolean;
  /** Written even when it says nothing new: the API may lack it. */
  readonly isForced: boolean;
}

interface Writer {
  /** Writes until the API has the newest version, unless that is under way. */
  readonly start: (entry: Entry) => void;
  readonly retryLater: (entry: Entry) => void;
  readonly idle: () => Promise<void>;
}

function createWriter(options: StatusManagerOptions, entries: Map<string, Entry>): Writer {
  const writes = new Set<Promise<void>>();

  const write = async (entry: Entry): Promise<void> => {
    entry.isWriting = true;
    entry.cancelRetry?.();
    entry.cancelRetry = undefined;
    while (entry.writtenVersion < entry.version && entries.get(uidOf(entry.pod)) === entry) {
      const outcome = await writeStatus(options, entry);
      if (outcome === 'gone') entries.delete(uidOf(entry.pod));
      if (outcome !== 'failed') continue;
      retryLater(entry);
      break;
    }
    entry.isWriting = false;
  };
  const retryLater = (entry: Entry): void => {
    entry.cancelRetry = options.clock.after(RETRY_MS, () => {
      entry.cancelRetry = undefined;
      start(entry);
    });
  };
  const start = (entry: Entry): void => {
    if (entry.isWriting) return;
    const writing = write(entry).finally(() => writes.delete(writing));
    writes.add(writing);
  };
  return {
    start,
    retryLater,
    idle: async () => {
      while (writes.size > 0) await Promise.all(writes);
    },
  };
}

function newEntry(pod: PodObject, status: PodStatus): Entry {
  return {
    pod,
    status,
    version: 0,
    writtenVersion: -1,
    isFinished: false,
    isWriting: false,
    cancelRetry: undefined,
  };
}

async function writeStatus(options: StatusManagerOptions, entry: Entry): Promise<WriteOutcome> {
  const { client, log } = options;
  const { pod } = entry;
  const { namespace = '', name } = pod.metadata;
  const apiUid = options.apiUidOf(pod);
  if (apiUid === undefined) {
    entry.writtenVersion = entry.version;
    return 'done';
  }
  const ref: ObjectRef = { resource: 'pods', namespace, name };
  const current = await client.get(ref);
  if (current.kind === 'refused') return refusal(options, { entry, status: current.status });
  const stored = current.object as PodObject;
  if (uidOf(stored) !== apiUid) {
    log.debug('status skipped: another pod has this name', { pod: podName(pod) });
    return 'gone';
  }
  const { version } = entry;
  const body = patchFor(options, entry, stored);
  let written: ApiObject = stored;
  if (body !== undefined) {
    const outcome = await client.patch(ref, { type: 'strategic', body, subresource: 'status' });
    if (outcome.kind === 'refused') return refusal(options, { entry, status: outcome.status });
    written = outcome.object;
  }
  log.debug('status PATCH', {
    pod: podName(pod),
    phase: entry.status.phase,
    result: body === undefined ? 'unchanged' : 'written',
  });
  entry.writtenVersion = version;
  return isReadyForDeletion(entry, written as PodObject)
    ? await deletePod(options, { entry, ref, uid: apiUid })
    : 'done';
}

/** What the API's pod lacks of the newest status; undefined when nothing. */
function patchFor(
  { couldRun, clock }: StatusManagerOptions,
  entry: Entry,
  stored: PodObject,
): JsonObject | undefined {
  const before = stored.status ?? {};
  const after = mergeStatus({
    before,
    after: entry.status,
    couldRun: couldRun(uidOf(entry.pod)),
    nowText: formatTime(clock.nowMs()),
  });
  return statusPatch({ uid: uidOf(stored), before, after });
}

function isReadyForDeletion(entry: Entry, stored: PodObject): boolean {
  return (
    entry.isFinished &&
    stored.metadata.deletionTimestamp !== undefined &&
    !isMirrorPod(stored) &&
    isTerminalPhase(stored.status?.phase)
  );
}

async function deletePod(
  options: StatusManagerOptions,
  target: { readonly entry: Entry; readonly ref: ObjectRef; readonly uid: string },
): Promise<WriteOutcome> {
  const { entry, ref, uid } = target;
  const outcome = await options.client.delete(ref, { gracePeriodSeconds: 0, uid });
  if (outcome.kind === 'refused') {
    entry.version += 1;
    return refusal(options, { entry, status: outcome.status });
  }
  options.log.debug('pod deleted', { pod: podName(entry.pod) });
  return 'gone';
}

function refusal(
  { log }: StatusManagerOptions,
  refused: { readonly entry: Entry; readonly status: Status },
): WriteOutcome {
  const { entry, status } = refused;
  if (status.reason === 'NotFound') {
    log.debug('status skipped: the pod is gone', { pod: podName(entry.pod) });
    return 'gone';
  }
  log.warn('status not written', { pod: podName(entry.pod), reason: status.reason });
  return 'failed';
}
