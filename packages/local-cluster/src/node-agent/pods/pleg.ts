/**
 * The pod lifecycle event generator (spec node-agent 2): compares what the runtime holds of a pod with the last look.
 *
 * It looks at a pod when the runtime reports something about it, all reports of one turn at once, and at all pods when
 * asked. An idle node costs nothing. Only what matters to a sync is told: containers that started, ended or vanished.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { RuntimeContainer } from '../../runtime/cri.ts';
import type { PodRuntime } from '../shared/pod-runtime.ts';

/** What happened to a container. */
export interface PodLifecycleEvent {
  readonly podUid: string;
  readonly type: 'ContainerStarted' | 'ContainerDied' | 'ContainerRemoved';
  readonly containerId: string;
}

/** The generator of one agent. */
export interface Pleg {
  /** Compares all pods of which the runtime holds or held something. */
  readonly relist: () => void;
  readonly stop: Cancel;
}

type States = ReadonlyMap<string, RuntimeContainer['state']>;

/** Starts looking; `onEvent` is called from a later microtask. */
export function startPleg(
  runtime: Pick<PodRuntime, 'status' | 'podUids' | 'onPodEvent'>,
  onEvent: (event: PodLifecycleEvent) => void,
): Pleg {
  const seen = new Map<string, States>();
  const touched = new Set<string>();
  let isScheduled = false;

  const look = (podUid: string): void => {
    const before = seen.get(podUid) ?? new Map<string, RuntimeContainer['state']>();
    const { containers, sandboxes } = runtime.status(podUid);
    const after = new Map(containers.map(({ id, state }) => [id, state]));
    if (after.size === 0 && sandboxes.length === 0) seen.delete(podUid);
    else seen.set(podUid, after);
    for (const [containerId, state] of after) {
      const type = eventOf(before.get(containerId), state);
      if (type !== undefined) onEvent({ podUid, type, containerId });
    }
    for (const containerId of before.keys()) {
      if (!after.has(containerId)) onEvent({ podUid, type: 'ContainerRemoved', containerId });
    }
  };
  const flush = (): void => {
    isScheduled = false;
    const uids = [...touched];
    touched.clear();
    uids.forEach(look);
  };
  const stop = runtime.onPodEvent((podUid) => {
    touched.add(podUid);
    if (isScheduled) return;
    isScheduled = true;
    queueMicrotask(flush);
  });
  return {
    relist: () => {
      for (const uid of new Set([...seen.keys(), ...runtime.podUids()])) look(uid);
    },
    stop,
  };
}

function eventOf(
  before: RuntimeContainer['state'] | undefined,
  after: RuntimeContainer['state'],
): PodLifecycleEvent['type'] | undefined {
  if (before === after) return undefined;
  if (after === 'running') return 'ContainerStarted';
  return after === 'exited' ? 'ContainerDied' : undefined;
}
