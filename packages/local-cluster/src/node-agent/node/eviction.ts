/**
 * Eviction under pressure (spec node-agent 9): while the node lacks memory, disk or process ids, pods are evicted one
 * by one, those that asked for least first, critical and static ones never.
 *
 * Pressure comes from the Node's annotation `simulate.rollcall.dev/pressure`. A condition stays true for five minutes
 * after the pressure has gone, as the kubelet keeps it. Differs from Kubernetes: without usage figures pods are ranked
 * by QoS class, priority and age, and pressure ends only when the annotation does.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import { isCriticalPod, podName } from '../shared/pod-object.ts';
import type { Condition, PodObject, PodStatus } from '../shared/pod-object.ts';
import { qosClassOf } from '../shared/pod-resources.ts';
import type { PodWorkers } from '../pods/pod-workers.ts';
import type { NodeConditionType } from './node-conditions.ts';
import { nodeReference } from './node-reference.ts';

/** The eviction manager of one agent. */
export interface EvictionManager {
  /** Pressures that the node reports now. */
  readonly pressures: () => readonly NodeConditionType[];
  /** What is asked for may have changed. */
  readonly sync: () => void;
  readonly stop: Cancel;
}

/** What the eviction manager needs. */
export interface EvictionOptions {
  readonly context: Pick<AgentContext, 'clock' | 'log' | 'record' | 'settings' | 'machine'>;
  readonly workers: Pick<PodWorkers, 'update'>;
  readonly asked: () => readonly NodeConditionType[];
  readonly activePods: () => readonly PodObject[];
  /** The reported pressures have changed. */
  readonly onChange: () => void;
}

/** Order in which pressures are fought, and what they are a lack of. */
const RESOURCES: readonly { readonly type: NodeConditionType; readonly resource: string }[] = [
  { type: 'MemoryPressure', resource: 'memory' },
  { type: 'DiskPressure', resource: 'ephemeral-storage' },
  { type: 'PIDPressure', resource: 'pids' },
];

const QOS_RANK = { BestEffort: 0, Burstable: 1, Guaranteed: 2 } as const;
/** A hard threshold leaves one second (kubelet: immediateEvictionGracePeriodSeconds). */
const GRACE_SECONDS = 1;

/** Starts without pressure; looks when asked to. */
export function createEvictionManager(options: EvictionOptions): EvictionManager {
  const { clock, settings } = options.context;
  const lastAskedAtMs = new Map<NodeConditionType, number>();
  let cancelTimer: Cancel | undefined;
  let reported: readonly NodeConditionType[] = [];

  const look = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    const nowMs = clock.monotonicMs();
    const asked = options.asked();
    for (const type of asked) lastAskedAtMs.set(type, nowMs);
    const next = RESOURCES.map(({ type }) => type).filter((type) => {
      const askedAtMs = lastAskedAtMs.get(type);
      return askedAtMs !== undefined && nowMs - askedAtMs < settings.pressureTransitionMs;
    });
    const hasChanged = next.join() !== reported.join();
    reported = next;
    if (hasChanged) options.onChange();
    evictOne(options, asked);
    if (next.length > 0) cancelTimer = clock.after(settings.evictionIntervalMs, look);
  };
  return {
    pressures: () => reported,
    sync: look,
    stop: () => {
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}

function evictOne(options: EvictionOptions, asked: readonly NodeConditionType[]): void {
  const { context } = options;
  const pressure = RESOURCES.find(({ type }) => asked.includes(type));
  if (pressure === undefined) return;
  const { resource } = pressure;
  context.record({
    about: nodeReference(context.machine.name),
    type: 'Warning',
    reason: 'EvictionThresholdMet',
    message: `Attempting to reclaim ${resource}`,
  });
  const [pod] = rankForEviction(options.activePods());
  if (pod === undefined) return;
  const message = `The node was low on resource: ${resource}. `;
  context.log.debug('evict', { pod: podName(pod), resource });
  context.record({ about: pod, type: 'Warning', reason: 'Evicted', message });
  options.workers.update({
    type: 'kill',
    pod,
    kill: {
      graceSeconds: GRACE_SECONDS,
      reason: 'Evicted',
      changeStatus: (status) => endedByAgent(status, { pod, reason: 'Evicted', message }),
    },
  });
}

/** Pods that may be evicted, the first to go first: by QoS class, priority, then youth. */
function rankForEviction(pods: readonly PodObject[]): readonly PodObject[] {
  const rank = (pod: PodObject): number => QOS_RANK[qosClassOf(pod.spec)];
  const priority = (pod: PodObject): number => pod.spec.priority ?? 0;
  const created = (pod: PodObject): string => pod.metadata.creationTimestamp;
  return pods
    .filter((pod) => !isCriticalPod(pod))
    .sort(
      (left, right) =>
        rank(left) - rank(right) ||
        priority(left) - priority(right) ||
        (created(left) < created(right) ? 1 : -1),
    );
}

/** The status of a pod that the agent itself ends: Failed, and the condition DisruptionTarget. */
export function endedByAgent(
  status: PodStatus,
  why: { readonly pod: PodObject; readonly reason: string; readonly message: string },
): PodStatus {
  const { pod, reason, message } = why;
  const { generation } = pod.metadata;
  const target: Condition = {
    type: 'DisruptionTarget',
    status: 'True',
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    reason: 'TerminationByKubelet',
    message,
  };
  const others = (status.conditions ?? []).filter(({ type }) => type !== target.type);
  return { ...status, phase: 'Failed', reason, message, conditions: [target, ...others] };
}
