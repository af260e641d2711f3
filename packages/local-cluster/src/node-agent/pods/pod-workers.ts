/**
 * One worker per pod UID, strictly one operation at a time, the newest update wins (spec node-agent 3).
 *
 *   syncing ──deletion, terminal phase, kill──▶ terminating ──containers stopped──▶ terminated ──cleaned up──▶ finished
 *
 * A worker only moves to the right. What arrives during an operation replaces what waits; a move to terminating aborts a
 * sync that is under way. After a success a pod is synced again in 60 to 90 s, after an error when its back-off ends,
 * else in 10 to 15 s. Once terminating, the grace period can only shrink. Housekeeping removes finished workers.
 */
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { withJitter } from '../shared/agent-context.ts';
import { isTerminalPhase, podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject, PodStatus } from '../shared/pod-object.ts';
import type { NodeAgentSettings } from '../shared/settings.ts';
import type { WorkQueue } from './work-queue.ts';

/** Why a pod is looked at. */
export type SyncType = 'create' | 'update' | 'sync' | 'kill';

/** How a pod is killed by the agent itself. */
export interface KillOptions {
  readonly graceSeconds?: number;
  /** Changes the status that is written, e.g. to Evicted. */
  readonly changeStatus?: (status: PodStatus) => PodStatus;
  /** Why, for the runtime's event. */
  readonly reason?: string;
}

/** Work for a pod. */
export interface PodWork {
  readonly type: SyncType;
  readonly pod: PodObject;
  readonly kill?: KillOptions;
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
  readonly syncTerminatingPod: (input: {
    readonly pod: PodObject;
    readonly graceSeconds: number;
    readonly reason: string;
    readonly changeStatus: (status: PodStatus) => PodStatus;
  }) => Promise<void>;
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
  /** Resolves when the pod's containers have been stopped; at once when there is no worker. */
  readonly whenStopped: (podUid: string) => Promise<void>;
  readonly podUids: () => readonly string[];
  /** Drops a finished worker, so that a pod with its UID may start anew. True when it has been dropped. */
  readonly drop: (podUid: string) => boolean;
  /** Was a pod with this UID added again while its worker was terminating? */
  readonly isRestartRequested: (podUid: string) => boolean;
  /** No operation begins any more. */
  readonly stop: () => void;
}

/** What workers need. */
export interface PodWorkersOptions {
  readonly syncer: PodSyncer;
  readonly queue: WorkQueue;
  readonly random: Random;
  readonly log: Log;
  readonly settings: Pick<NodeAgentSettings, 'resyncMs' | 'syncBackOffMs'>;
  /** A worker has finished; housekeeping may want to look. */
  readonly onFinished: (pod: PodObject) => void;
}

interface Worker {
  pod: PodObject;
  state: WorkerState;
  pending: PodWork | undefined;
  isWorking: boolean;
  abort: AbortController | undefined;
  graceSeconds: number;
  reason: string;
  changes: ((status: PodStatus) => PodStatus)[];
  isRestartRequested: boolean;
  waiters: (() => void)[];
}

const BACK_OFF_JITTER = 0.5;

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
    if (!takes(worker, work)) return;
    const isEnding = worker.state === 'syncing' && mustEnd(work);
    if (isEnding) worker.state = 'terminating';
    if (worker.state === 'terminating') shortenGrace(worker, work);
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
    whenStopped: (uid) => {
      const worker = workers.get(uid);
      if (worker === undefined || hasStopped(worker)) return Promise.resolve();
      return new Promise((resolve) => {
        worker.waiters.push(resolve);
      });
    },
    podUids: () => [...workers.keys()],
    drop: (uid) => {
      const worker = workers.get(uid);
      if (worker?.state !== 'finished' || worker.isWorking) return false;
      options.queue.remove(uid);
      return workers.delete(uid);
    },
    isRestartRequested: (uid) => workers.get(uid)?.isRestartRequested === true,
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
    graceSeconds: 0,
    reason: '',
    changes: [],
    isRestartRequested: false,
    waiters: [],
  };
}

/** A pod that comes back while it ends must wait for its end; one whose work is done takes no more. */
function takes(worker: Worker, { type }: PodWork): boolean {
  if (worker.state !== 'syncing' && type === 'create') worker.isRestartRequested = true;
  return worker.state === 'syncing' || (worker.state !== 'finished' && type !== 'create');
}

function hasStopped({ state }: Worker): boolean {
  return state === 'terminated' || state === 'finished';
}

function mustEnd({ type, pod }: PodWork): boolean {
  return (
    type === 'kill' ||
    pod.metadata.deletionTimestamp !== undefined ||
    isTerminalPhase(pod.status?.phase)
  );
}

/** The API's grace period, one that the agent asks for, else the pod's own; at least 1 s, and never longer than before. */
function shortenGrace(worker: Worker, { pod, kill }: PodWork): void {
  const asked = [pod.metadata.deletionGracePeriodSeconds, kill?.graceSeconds].filter(
    (seconds) => seconds !== undefined,
  );
  const before = worker.graceSeconds === 0 ? [] : [worker.graceSeconds];
  const own = pod.spec.terminationGracePeriodSeconds ?? 30;
  const shortest = asked.length + before.length === 0 ? own : Math.min(...before, ...asked);
  worker.graceSeconds = Math.max(1, shortest);
  if (kill?.reason !== undefined) worker.reason = kill.reason;
  if (kill?.changeStatus !== undefined) worker.changes.push(kill.changeStatus);
}

async function operate(options: PodWorkersOptions, worker: Worker, work: PodWork): Promise<void> {
  const { queue, log, random, settings } = options;
  const uid = uidOf(work.pod);
  try {
    const outcome = await operateOnce(options, worker, work);
    if (worker.state === 'finished') {
      queue.remove(uid);
      options.onFinished(work.pod);
    } else if (outcome.kind === 'terminal') {
      worker.pending ??= { type: 'sync', pod: work.pod };
    } else if (outcome.kind === 'synced') {
      queue.enqueue(uid, withJitter(random, settings.resyncMs, BACK_OFF_JITTER));
    } else {
      log.debug('pod sync failed', { pod: podName(work.pod), because: outcome.why });
      const afterMs =
        outcome.afterMs ?? withJitter(random, settings.syncBackOffMs, BACK_OFF_JITTER);
      queue.enqueue(uid, Math.max(0, Math.min(afterMs, settings.resyncMs)));
    }
  } catch (cause) {
    log.warn('pod sync failed', { pod: podName(work.pod), because: String(cause) }, cause);
    queue.enqueue(uid, withJitter(random, settings.syncBackOffMs, BACK_OFF_JITTER));
  }
}

const TRANSITION: SyncOutcome = { kind: 'terminal' };

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
      shortenGrace(worker, work);
      return TRANSITION;
    }
    case 'terminating': {
      await syncer.syncTerminatingPod({
        pod: work.pod,
        graceSeconds: worker.graceSeconds,
        reason: worker.reason,
        changeStatus: (status) => worker.changes.reduce((each, change) => change(each), status),
      });
      worker.state = 'terminated';
      for (const resolve of worker.waiters.splice(0)) resolve();
      return TRANSITION;
    }
    case 'terminated':
      await syncer.syncTerminatedPod(work.pod);
      worker.state = 'finished';
      return TRANSITION;
    case 'finished':
      return TRANSITION;
  }
}
