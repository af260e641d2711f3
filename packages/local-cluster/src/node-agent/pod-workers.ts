/**
 * One worker per pod UID, strictly one operation at a time, the newest update wins.
 *
 *   syncing ──deletion, terminal phase, kill──▶ terminating ──containers stopped──▶ terminated ──cleaned up──▶ finished
 *
 * A worker only moves to the right. What arrives during an operation replaces what waits; a move to terminating aborts a
 * sync that is under way. After a success a pod is synced again in 60 to 90 s, after an error when its back-off ends,
 * else in 10 to 15 s. Once terminating, the grace period can only shrink.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { withJitter } from './shared/agent-context.ts';
import { isTerminalPhase, podName, uidOf } from './shared/pod-object.ts';
import type { PodObject } from './shared/pod-object.ts';

/** Why a pod is looked at. */
export type SyncType = 'create' | 'update' | 'sync' | 'kill';

/** Work for a pod. */
export interface PodWork {
  readonly type: SyncType;
  readonly pod: PodObject;
}

/** What one sync came to. */
export type SyncOutcome =
  | { readonly kind: 'synced' }
  /** The pod has ended by itself: its containers are cleaned up next. */
  | { readonly kind: 'terminal' }
  /** To be tried again after `afterMs`; without it after the usual back-off. */
  | { readonly kind: 'retry'; readonly why: string; readonly afterMs?: number };

/** The script's three parts; each rejects when it must be tried again. */
export interface PodSyncer {
  readonly syncPod: (work: PodWork, signal: AbortSignal) => Promise<SyncOutcome>;
  readonly syncTerminatingPod: (pod: PodObject, graceSeconds: number) => Promise<void>;
  readonly syncTerminatedPod: (pod: PodObject) => Promise<void>;
}

/** How far a pod has come. */
export type WorkerState = 'syncing' | 'terminating' | 'terminated' | 'finished';

/** All workers of one agent. */
export interface PodWorkers {
  readonly update: (work: PodWork) => void;
  readonly state: (podUid: string) => WorkerState | undefined;
  /** Looks at a pod again with what is known of it. */
  readonly resync: (podUid: string) => void;
  readonly podUids: () => readonly string[];
  /** Drops a worker that has finished. */
  readonly drop: (podUid: string) => void;
  /** No operation begins any more. */
  readonly stop: () => void;
}

/** What workers need. */
export interface PodWorkersOptions {
  readonly syncer: PodSyncer;
  readonly queue: WorkQueue;
  readonly random: Random;
  readonly log: Log;
  readonly onFinished: (pod: PodObject) => void;
}

interface Worker {
  pod: PodObject;
  state: WorkerState;
  pending: PodWork | undefined;
  isWorking: boolean;
  abort: AbortController | undefined;
  graceSeconds: number | undefined;
}

const RESYNC_MS = 60_000;
const SYNC_BACK_OFF_MS = 10_000;
const JITTER = 0.5;
const DEFAULT_GRACE_SECONDS = 30;
const TRANSITION: SyncOutcome = { kind: 'terminal' };

/** Starts with no workers. */
export function createPodWorkers(options: PodWorkersOptions): PodWorkers {
  const workers = new Map<string, Worker>();
  let isStopped = false;

  const run = async (worker: Worker): Promise<void> => {
    worker.isWorking = true;
    while (worker.pending !== undefined && !isStopped) {
      const work = worker.pending;
      worker.pending = undefined;
      worker.pod = work.pod;
      await operate(options, worker, work);
    }
    worker.isWorking = false;
  };
  const update = (work: PodWork): void => {
    if (isStopped) return;
    const uid = uidOf(work.pod);
    const worker = workers.get(uid) ?? newWorker(work.pod);
    workers.set(uid, worker);
    if (worker.state === 'finished') return;
    const isEnding = worker.state === 'syncing' && mustEnd(work);
    if (isEnding) worker.state = 'terminating';
    if (worker.state === 'terminating') shortenGrace(worker, work.pod);
    worker.pending = work;
    if (isEnding) worker.abort?.abort();
    if (!worker.isWorking) void run(worker);
  };
  return {
    update,
    state: (uid) => workers.get(uid)?.state,
    resync: (uid) => {
      const worker = workers.get(uid);
      if (worker !== undefined) update({ type: 'sync', pod: worker.pending?.pod ?? worker.pod });
    },
    podUids: () => [...workers.keys()],
    drop: (uid) => {
      options.queue.remove(uid);
      workers.delete(uid);
    },
    stop: () => {
      isStopped = true;
      for (const worker of workers.values()) worker.abort?.abort();
    },
  };
}

function newWorker(pod: PodObject): Worker {
  return {
    pod,
    state: 'syncing',
    pending: undefined,
    isWorking: false,
    abort: undefined,
    graceSeconds: undefined,
  };
}

function mustEnd({ type, pod }: PodWork): boolean {
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  return type === 'kill' || isDeleted || isTerminalPhase(pod.status?.phase);
}

/** The API's grace period, else the pod's own; at least 1 s, and never longer than before. */
function shortenGrace(worker: Worker, { metadata, spec }: PodObject): void {
  const own = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  const asked = metadata.deletionGracePeriodSeconds ?? worker.graceSeconds ?? own;
  worker.graceSeconds = Math.max(1, Math.min(asked, worker.graceSeconds ?? asked));
}

async function operate(options: PodWorkersOptions, worker: Worker, work: PodWork): Promise<void> {
  const { queue, log, random } = options;
  const uid = uidOf(work.pod);
  const backOffMs = (): number => withJitter(random, SYNC_BACK_OFF_MS, JITTER);
  try {
    const outcome = await operateOnce(options, worker, work);
    if (worker.state === 'finished') {
      queue.remove(uid);
      options.onFinished(work.pod);
    } else if (outcome.kind === 'terminal') {
      worker.pending ??= { type: 'sync', pod: work.pod };
    } else if (outcome.kind === 'synced') {
      queue.enqueue(uid, withJitter(random, RESYNC_MS, JITTER));
    } else {
      log.debug('pod sync failed', { pod: podName(work.pod), because: outcome.why });
      queue.enqueue(uid, Math.min(outcome.afterMs ?? backOffMs(), RESYNC_MS));
    }
  } catch (cause) {
    log.warn('pod sync failed', { pod: podName(work.pod), because: String(cause) }, cause);
    queue.enqueue(uid, backOffMs());
  }
}

async function operateOnce(
  { syncer }: PodWorkersOptions,
  worker: Worker,
  work: PodWork,
): Promise<SyncOutcome> {
  switch (worker.state) {
    case 'syncing': {
      worker.abort = new AbortController();
      const outcome = await syncer.syncPod(work, worker.abort.signal);
      worker.abort = undefined;
      if (outcome.kind !== 'terminal') return outcome;
      worker.state = 'terminating';
      shortenGrace(worker, work.pod);
      return TRANSITION;
    }
    case 'terminating':
      await syncer.syncTerminatingPod(work.pod, worker.graceSeconds ?? DEFAULT_GRACE_SECONDS);
      worker.state = 'terminated';
      return TRANSITION;
    case 'terminated':
      await syncer.syncTerminatedPod(work.pod);
      worker.state = 'finished';
      return TRANSITION;
    case 'finished':
      return TRANSITION;
  }
}

/** When which pod must be looked at again although nothing happened. */
export interface WorkQueue {
  /** Replaces an earlier due time. */
  readonly enqueue: (podUid: string, delayMs: number) => void;
  readonly remove: (podUid: string) => void;
}

/** One timer for all pods of the node; `onDue` gets those whose time has come, and the queue forgets them first. */
export function createWorkQueue(
  clock: Clock,
  onDue: (podUids: readonly string[]) => void,
): WorkQueue {
  const dueAtMs = new Map<string, number>();
  let armed: { readonly atMs: number; readonly cancel: Cancel } | undefined;

  const arm = (): void => {
    if (dueAtMs.size === 0) return;
    const nextMs = Math.min(...dueAtMs.values());
    if (armed !== undefined && armed.atMs <= nextMs) return;
    armed?.cancel();
    const cancel = clock.after(Math.max(0, nextMs - clock.monotonicMs()), fire);
    armed = { atMs: nextMs, cancel };
  };
  const fire = (): void => {
    armed = undefined;
    const nowMs = clock.monotonicMs();
    const due = [...dueAtMs].filter(([, atMs]) => atMs <= nowMs).map(([uid]) => uid);
    for (const uid of due) dueAtMs.delete(uid);
    if (due.length > 0) onDue(due);
    arm();
  };
  return {
    enqueue: (uid, delayMs) => {
      dueAtMs.set(uid, clock.monotonicMs() + delayMs);
      arm();
    },
    remove: (uid) => {
      dueAtMs.delete(uid);
    },
  };
}
