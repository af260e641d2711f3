/**
 * The agent's loop: takes the next of configuration updates, events of the pod lifecycle event generator (PLEG), due pods,
 * probe results and housekeeping, and hands it to the pod's worker.
 *
 * Items are taken in the order in which they came, one at a time, from a microtask; nothing here waits. Additions go
 * through admission; a pod that is rejected is Failed with the reason and never gets a worker.
 */
import type { Log } from '@rollcall/base/ports/log.ts';
import type { RuntimeEvent } from '../runtime/cri.ts';
import { admitPod } from './admission.ts';
import type { AdmissionNode } from './admission.ts';
import type { PodUpdate } from './pod-config.ts';
import type { PodWorkers } from './pod-workers.ts';
import { isTerminalPhase, podName, uidOf } from './shared/pod-object.ts';
import type { PodObject } from './shared/pod-object.ts';
import { qosClassOf } from './shared/pod-resources.ts';
import type { ProbeResult } from './shared/pod-runtime.ts';
import type { ScriptContext } from './sync-pod.ts';

/** Something to act upon. */
export type LoopItem =
  | { readonly kind: 'config'; readonly update: PodUpdate }
  | { readonly kind: 'pleg'; readonly event: RuntimeEvent }
  | { readonly kind: 'sync'; readonly podUids: readonly string[] }
  | { readonly kind: 'probe'; readonly result: ProbeResult }
  | { readonly kind: 'housekeeping' };

/** The loop of one agent. */
export interface SyncLoop {
  readonly push: (item: LoopItem) => void;
  /** Takes nothing any more. */
  readonly stop: () => void;
}

/** What the loop acts upon. */
export interface LoopOptions {
  readonly context: ScriptContext;
  readonly workers: () => PodWorkers;
  readonly node: () => AdmissionNode;
}

/** Starts the loop. */
export function startSyncLoop(options: LoopOptions): SyncLoop {
  const items: LoopItem[] = [];
  let isScheduled = false;
  let isStopped = false;

  const push = (item: LoopItem): void => {
    items.push(item);
    if (isScheduled) return;
    isScheduled = true;
    queueMicrotask(drain);
  };
  const drain = (): void => {
    isScheduled = false;
    const handlers = new Handlers(options, push);
    for (let item = items.shift(); item !== undefined && !isStopped; item = items.shift()) {
      handlers.iterate(item);
    }
  };
  return {
    push,
    stop: () => {
      isStopped = true;
    },
  };
}

class Handlers {
  readonly #context: ScriptContext;
  readonly #log: Log;
  readonly #workers: PodWorkers;
  readonly #node: () => AdmissionNode;
  readonly #push: (item: LoopItem) => void;

  constructor({ context, workers, node }: LoopOptions, push: (item: LoopItem) => void) {
    this.#context = context;
    this.#log = context.log;
    this.#workers = workers();
    this.#node = node;
    this.#push = push;
  }

  iterate(item: LoopItem): void {
    switch (item.kind) {
      case 'config': {
        const { operation, pods } = item.update;
        for (const pod of pods) {
          this.#log.debug(`SyncLoop ${operation}`, { source: 'api', pod: podName(pod) });
        }
        for (const pod of pods) this.#onUpdate(operation, pod);
        return;
      }
      case 'pleg': {
        const { podUid, type, id } = item.event;
        const event = type === 'started' ? 'ContainerStarted' : 'ContainerDied';
        this.#log.debug('SyncLoop (PLEG)', { podUid, event, containerId: id });
        this.#workers.resync(podUid);
        return;
      }
      case 'sync':
        this.#log.debug('SyncLoop (SYNC)', { pods: item.podUids.length });
        item.podUids.forEach(this.#workers.resync);
        return;
      case 'probe': {
        const { podUid, containerName, kind, isSuccess } = item.result;
        const verdict = { container: containerName, probe: kind, isSuccess };
        this.#log.debug('SyncLoop (probe)', { podUid, ...verdict });
        this.#workers.resync(podUid);
        return;
      }
      case 'housekeeping':
        this.#log.debug('SyncLoop (housekeeping)');
        this.#cleanUp();
        return;
    }
  }

  #onUpdate(operation: PodUpdate['operation'], pod: PodObject): void {
    const { pods, statuses } = this.#context;
    const uid = uidOf(pod);
    if (operation === 'REMOVE') {
      pods.delete(uid);
      if (this.#workers.state(uid) !== undefined) this.#workers.update({ type: 'kill', pod });
      this.#push({ kind: 'housekeeping' });
      return;
    }
    pods.set(uid, pod);
    if (operation === 'ADD') {
      this.#add(pod);
      return;
    }
    const state = this.#workers.state(uid);
    if (operation === 'RECONCILE' && !isTerminalPhase(pod.status?.phase)) {
      statuses.check(pod);
    } else if (state === undefined) {
      // Rejected: nothing to stop, but the API waits for its deletion.
      if (operation === 'DELETE') this.#workers.update({ type: 'kill', pod });
    } else if (state === 'finished') {
      statuses.reconcile(pod);
    } else {
      this.#workers.update({ type: 'update', pod });
    }
  }

  #add(pod: PodObject): void {
    const isEnding = pod.metadata.deletionTimestamp !== undefined;
    if (!isEnding && !isTerminalPhase(pod.status?.phase)) {
      const others = this.#activePods().filter((other) => uidOf(other) !== uidOf(pod));
      const admission = admitPod({ node: this.#node(), pod, others });
      const isRejected = admission.kind === 'rejected';
      const why = isRejected ? { reason: admission.reason } : {};
      this.#log.debug('admission', { pod: podName(pod), verdict: admission.kind, ...why });
      if (isRejected) {
        this.#reject(pod, admission);
        return;
      }
    }
    this.#workers.update({ type: 'create', pod });
  }

  #reject(
    pod: PodObject,
    { reason, message }: { readonly reason: string; readonly message: string },
  ): void {
    const { record, statuses } = this.#context;
    record({ about: pod, type: 'Warning', reason, message });
    const { generation } = pod.metadata;
    statuses.set(pod, {
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      phase: 'Failed',
      reason,
      message: `Pod was rejected: ${message}`,
      qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
    });
  }

  /** Pods that hold resources: admitted, not ended, or still ending. */
  #activePods(): readonly PodObject[] {
    const { pods, statuses } = this.#context;
    return [...pods.values()].filter((pod) => {
      const state = this.#workers.state(uidOf(pod));
      const { phase } = statuses.get(uidOf(pod)) ?? pod.status ?? {};
      return state === 'terminating' || (state === 'syncing' && !isTerminalPhase(phase));
    });
  }

  /** Forgets pods that are gone and whose workers have finished, and removes what ended of them by itself. */
  #cleanUp(): void {
    const { pods, statuses, volumes, podRuntime, probes } = this.#context;
    const uids = new Set([...this.#workers.podUids(), ...statuses.podUids()]);
    for (const uid of uids) {
      if (pods.has(uid)) continue;
      const state = this.#workers.state(uid);
      if (state !== undefined && state !== 'finished') continue;
      this.#workers.drop(uid);
      podRuntime.forget(uid);
      podRuntime.removePod(uid).catch((cause: unknown) => {
        this.#log.warn('containers not removed', { podUid: uid }, cause);
      });
      statuses.forget(uid);
      volumes.unmount(uid);
      probes.remove(uid);
    }
  }
}
