/**
 * The agent's loop (spec node-agent 2): takes the next of configuration updates, pod lifecycle events, due pods, probe
 * results and housekeeping, and hands it to whoever handles it.
 *
 * Items are taken in the order in which they came, one at a time, from a microtask; handlers only dispatch to workers and
 * never wait. Nothing runs while nothing has come.
 */
import type { Log } from '@rollcall/base/ports/log.ts';
import type { PodLifecycleEvent } from './pleg.ts';
import { podName } from '../shared/pod-object.ts';
import type { ProbeResult } from '../shared/pod-runtime.ts';
import type { PodUpdate } from '../sources/config.ts';

/** Something to act upon. */
export type LoopItem =
  | { readonly kind: 'config'; readonly update: PodUpdate }
  | { readonly kind: 'pleg'; readonly event: PodLifecycleEvent }
  | { readonly kind: 'sync'; readonly podUids: readonly string[] }
  | { readonly kind: 'probe'; readonly result: ProbeResult }
  | { readonly kind: 'housekeeping' };

/** Who acts. */
export interface LoopHandlers {
  readonly onUpdate: (update: PodUpdate) => void;
  readonly onSync: (podUid: string) => void;
  readonly onHousekeeping: () => void;
}

/** The loop of one agent. */
export interface SyncLoop {
  readonly push: (item: LoopItem) => void;
  /** Takes nothing any more. */
  readonly stop: () => void;
}

/** Starts the loop. */
export function startSyncLoop(handlers: LoopHandlers, log: Log): SyncLoop {
  const items: LoopItem[] = [];
  let isScheduled = false;
  let isStopped = false;

  const drain = (): void => {
    isScheduled = false;
    for (let item = items.shift(); item !== undefined && !isStopped; item = items.shift()) {
      iterate(handlers, log, item);
    }
  };
  return {
    push: (item) => {
      items.push(item);
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(drain);
    },
    stop: () => {
      isStopped = true;
    },
  };
}

function iterate(handlers: LoopHandlers, log: Log, item: LoopItem): void {
  switch (item.kind) {
    case 'config': {
      const { operation, source, pods } = item.update;
      for (const pod of pods) log.debug(`SyncLoop ${operation}`, { source, pod: podName(pod) });
      handlers.onUpdate(item.update);
      return;
    }
    case 'pleg': {
      const { podUid, type, containerId } = item.event;
      log.debug('SyncLoop (PLEG)', { podUid, event: type, containerId });
      if (type !== 'ContainerRemoved') handlers.onSync(podUid);
      return;
    }
    case 'sync':
      log.debug('SyncLoop (SYNC)', { pods: item.podUids.length });
      item.podUids.forEach(handlers.onSync);
      return;
    case 'probe': {
      const { podUid, containerName, kind, isSuccess } = item.result;
      log.debug('SyncLoop (probe)', { podUid, container: containerName, probe: kind, isSuccess });
      handlers.onSync(podUid);
      return;
    }
    case 'housekeeping':
      log.debug('SyncLoop (housekeeping)');
      handlers.onHousekeeping();
      return;
  }
}
