/**
 * Holds the newest status of each pod and brings it to the API: GET, then a PATCH on /status, then, for a terminating pod
 * whose work is done, the final DELETE with grace 0 and the UID as precondition.
 *
 *   set ──▶ GET ──▶ PATCH of what differs ──▶ finished and terminating? ──▶ DELETE
 *   set …… (kept) …………………………………▶ again from GET
 *
 * One write per pod is under way at a time; what changes meanwhile goes out with the next. Unchanged statuses are skipped,
 * conditions of others stay. A failed write is tried again when the status changes, at the latest after ten seconds.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { ClientOutcome, LocalClient } from '../../client/local-client.ts';
import type { ObjectRef } from '../../objects/api-object.ts';
import { isEqualJson } from '../shared/equal-json.ts';
import { isTerminalPhase, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject, PodStatus } from '../shared/pod-object.ts';
import { isOwnCondition } from './generate-status.ts';

/** What the status manager needs. */
export interface StatusManagerOptions {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
}

/** The status manager of one agent. */
export interface StatusManager {
  /** The newest status, written or not. */
  readonly get: (podUid: string) => PodStatus | undefined;
  /** Takes a status that was generated for this pod. */
  readonly set: (pod: PodObject, status: PodStatus) => void;
  /** The pod's work is done: containers, sandbox and volumes are gone. */
  readonly terminate: (pod: PodObject) => void;
  /** The API holds this now: what another client has overwritten is written again, ten seconds later. */
  readonly check: (pod: PodObject) => void;
  /** Looks at once whether the API holds what it should, e.g. after a deletion. */
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

type WriteOutcome = 'done' | 'again' | 'gone' | 'failed';

const RETRY_MS = 10_000;
/** Fields that only the node agent writes, so that their absence means removal. */
const OWN_FIELDS = ['reason', 'message', 'podIP', 'podIPs', 'initContainerStatuses'] as const;

/** Starts with no pods. */
export function createStatusManager(options: StatusManagerOptions): StatusManager {
  return new Manager(options);
}

class Manager implements StatusManager {
  readonly #options: StatusManagerOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #writes = new Set<Promise<void>>();

  constructor(options: StatusManagerOptions) {
    this.#options = options;
  }

  readonly get = (uid: string): PodStatus | undefined => this.#entries.get(uid)?.status;

  readonly podUids = (): readonly string[] => [...this.#entries.keys()];

  readonly set = (pod: PodObject, status: PodStatus): void => {
    const known = this.#entries.get(uidOf(pod));
    const isSame = known !== undefined && isEqualJson(known.status, status);
    // Of a pod that is being deleted the API may lack what it was told before.
    if (isSame && pod.metadata.deletionTimestamp === undefined) return;
    this.#update(pod, status);
  };

  readonly terminate = (pod: PodObject): void => {
    const last = this.get(uidOf(pod)) ?? pod.status ?? {};
    const entry = this.#update(pod, isTerminalPhase(last.phase) ? last : failed(last));
    entry.isFinished = true;
  };

  readonly check = (pod: PodObject): void => {
    const entry = this.#entries.get(uidOf(pod));
    if (entry === undefined) return;
    entry.pod = pod;
    const isPending = entry.isWriting || entry.cancelRetry !== undefined;
    if (isPending || statusPatch(pod, entry.status) === undefined) return;
    entry.version += 1;
    this.#retryLater(entry);
  };

  readonly reconcile = (pod: PodObject): void => {
    const entry = this.#entries.get(uidOf(pod));
    if (entry !== undefined) this.#update(pod, entry.status);
  };

  readonly forget = (uid: string): void => {
    this.#entries.get(uid)?.cancelRetry?.();
    this.#entries.delete(uid);
  };

  readonly idle = async (): Promise<void> => {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  };

  #update(pod: PodObject, status: PodStatus): Entry {
    const entry = this.#entries.get(uidOf(pod)) ?? newEntry(pod, status);
    this.#entries.set(uidOf(pod), entry);
    entry.pod = pod;
    entry.status = status;
    entry.version += 1;
    this.#start(entry);
    return entry;
  }

  /** Writes until the API has the newest version, unless that is under way. */
  #start(entry: Entry): void {
    if (entry.isWriting) return;
    const writing = this.#write(entry).finally(() => this.#writes.delete(writing));
    this.#writes.add(writing);
  }

  async #write(entry: Entry): Promise<void> {
    const uid = uidOf(entry.pod);
    entry.isWriting = true;
    entry.cancelRetry?.();
    entry.cancelRetry = undefined;
    while (entry.writtenVersion < entry.version && this.#entries.get(uid) === entry) {
      const outcome = await writeStatus(this.#options, entry);
      if (outcome === 'gone') this.#entries.delete(uid);
      if (outcome !== 'failed') continue;
      this.#retryLater(entry);
      break;
    }
    entry.isWriting = false;
  }

  #retryLater(entry: Entry): void {
    entry.cancelRetry = this.#options.clock.after(RETRY_MS, () => {
      entry.cancelRetry = undefined;
      this.#start(entry);
    });
  }
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

/** The last status of a pod whose containers never came to an end of their own. */
function failed(status: PodStatus): PodStatus {
  const terminated = { exitCode: 137, reason: 'ContainerStatusUnknown' };
  const ended = (status.containerStatuses ?? []).map((each) =>
    each.state.terminated === undefined ? { ...each, state: { terminated } } : each,
  );
  return { ...status, phase: 'Failed', containerStatuses: ended };
}

async function writeStatus(
  { client, log }: StatusManagerOptions,
  entry: Entry,
): Promise<WriteOutcome> {
  const { pod } = entry;
  const { namespace = '', name, uid } = pod.metadata;
  const about = { pod: podName(pod) };
  const refused = ({ status }: Extract<ClientOutcome, { kind: 'refused' }>): WriteOutcome => {
    if (status.reason === 'NotFound') return 'gone';
    if (status.reason === 'Conflict') return 'again';
    log.warn('status not written', { ...about, reason: status.reason });
    return 'failed';
  };
  const ref: ObjectRef = { resource: 'pods', namespace, name };
  const current = await client.get(ref);
  if (current.kind === 'refused') return refused(current);
  let stored = current.object as PodObject;
  // Another pod has this name.
  if (uidOf(stored) !== uid) return 'gone';
  const { version } = entry;
  const body = statusPatch(stored, entry.status);
  if (body !== undefined) {
    const written = await client.patch(ref, { type: 'merge', body, subresource: 'status' });
    if (written.kind === 'refused') return refused(written);
    stored = written.object as PodObject;
  }
  const result = body === undefined ? 'unchanged' : 'written';
  log.debug('status PATCH', { ...about, phase: entry.status.phase, result });
  entry.writtenVersion = version;
  const isToGo = entry.isFinished && stored.metadata.deletionTimestamp !== undefined;
  if (!isToGo || !isTerminalPhase(stored.status?.phase)) return 'done';
  const deleted = await client.delete(ref, { gracePeriodSeconds: 0, uid });
  if (deleted.kind === 'ok') {
    log.debug('pod deleted', about);
    return 'gone';
  }
  entry.version += 1;
  return refused(deleted);
}

/**
 * What the API's pod lacks of the agent's status; undefined when nothing. The version is the fence, as the list of
 * conditions goes as a whole.
 */
function statusPatch(stored: PodObject, status: PodStatus): JsonObject | undefined {
  const before = stored.status ?? {};
  const foreign = (before.conditions ?? []).filter((condition) => !isOwnCondition(condition));
  const after: PodStatus = { ...status, conditions: [...foreign, ...(status.conditions ?? [])] };
  const changes: Record<string, Json> = {};
  for (const [key, value] of Object.entries(after)) {
    if (value !== undefined && !isEqualJson(before[key], value)) changes[key] = value;
  }
  for (const key of OWN_FIELDS) {
    if (after[key] === undefined && (before[key] ?? null) !== null) changes[key] = null;
  }
  if (Object.keys(changes).length === 0) return undefined;
  const { uid, resourceVersion } = stored.metadata;
  return { metadata: { uid, resourceVersion }, status: changes };
}
