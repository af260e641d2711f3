/**
 * The status of a pod, computed from its spec, the runtime, the probes and what was written last (spec node-agent
 * 4c, 7).
 *
 * Pure. Transition times and startTime are the status manager's to set. Invariant: a pod never leaves Succeeded or
 * Failed. Differs from Kubernetes: a pod that was evicted or shut down stays Failed although its containers ended with
 * 0; no allocatedResources of the whole pod, no resize conditions.
 */
import type { ProbeManager, RuntimePodStatus, WaitingReason } from '../shared/pod-runtime.ts';
import { isStaticPod, isTerminalPhase } from '../shared/pod-object.ts';
import type { Condition, PodObject, PodStatus } from '../shared/pod-object.ts';
import { qosClassOf } from '../shared/pod-resources.ts';
import { containerStatuses } from './container-statuses.ts';
import { isOwnCondition, podConditions } from './pod-conditions.ts';
import { podPhase } from './pod-phase.ts';
import type { PodPhase } from './pod-phase.ts';

/** What a status is made from. */
export interface StatusInput {
  readonly pod: PodObject;
  /** What the status manager holds, else the pod's own. */
  readonly previous: PodStatus;
  readonly runtime: RuntimePodStatus;
  /** Why containers waited at the last sync. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  readonly probes: Pick<ProbeManager, 'isReady' | 'isStarted'>;
  /** The containers are stopped for good. */
  readonly isTerminal: boolean;
  readonly hostIp: string;
  /** Something inside the agent ends the pod: its deadline. */
  readonly eviction?: { readonly reason: string; readonly message: string };
}

/** Computes the status. */
export function generateStatus(input: StatusInput): PodStatus {
  const { pod, previous } = input;
  const containers = containerStatuses(input, {
    containers: pod.spec.containers,
    previous: previous.containerStatuses ?? [],
    areInit: false,
  });
  const initContainers = containerStatuses(input, {
    containers: pod.spec.initContainers ?? [],
    previous: previous.initContainerStatuses ?? [],
    areInit: true,
  });
  const outcome = phaseWithReason(input, {
    containerStatuses: containers,
    initContainerStatuses: initContainers,
  });
  const foreign = (pod.status?.conditions ?? []).filter(
    ({ type }) => !isOwnCondition(type) && type !== 'DisruptionTarget',
  );
  const own = podConditions({
    pod,
    phase: outcome.phase,
    runtime: input.runtime,
    containerStatuses: containers,
    initContainerStatuses: initContainers,
    foreign,
  });
  const { generation } = pod.metadata;
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...outcome,
    conditions: [...foreign, ...disruptionTarget(input), ...own],
    ...addresses(input),
    ...(initContainers.length === 0 ? {} : { initContainerStatuses: initContainers }),
    containerStatuses: containers,
    qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
  };
}

/** Set once, by an eviction or a shutdown, and kept (kubelet: shared by kubelet). */
function disruptionTarget({ pod, previous }: StatusInput): readonly Condition[] {
  const isTarget = ({ type }: Condition): boolean => type === 'DisruptionTarget';
  const condition = previous.conditions?.find(isTarget) ?? pod.status?.conditions?.find(isTarget);
  return condition === undefined ? [] : [condition];
}

interface Statuses {
  readonly containerStatuses: NonNullable<PodStatus['containerStatuses']>;
  readonly initContainerStatuses: NonNullable<PodStatus['initContainerStatuses']>;
}

interface Outcome {
  readonly phase: PodPhase;
  readonly reason?: string;
  readonly message?: string;
}

function phaseWithReason(input: StatusInput, statuses: Statuses): Outcome {
  const { pod, previous, eviction } = input;
  const computed = podPhase({
    pod,
    ...statuses,
    isTerminal: input.isTerminal,
    isStatic: isStaticPod(pod),
    hasInitialized: hasOrdinaryContainer(input),
  });
  const written = pod.status?.phase;
  if (isPodPhase(written) && isTerminalPhase(written)) return keepReason(input, written);
  if (eviction !== undefined) return { phase: 'Failed', ...eviction };
  const held = previous.phase;
  const isHeldTerminal = isPodPhase(held) && isTerminalPhase(held);
  return keepReason(input, isHeldTerminal ? held : computed);
}

/** Reason and message belong to the phase, and last as long as it does. */
function keepReason({ pod, previous }: StatusInput, phase: PodPhase): Outcome {
  if (phase !== previous.phase) return { phase };
  const reason = previous.reason ?? pod.status?.reason;
  const message = previous.message ?? pod.status?.message;
  return {
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

function isPodPhase(phase: string | undefined): phase is PodPhase {
  return phase === 'Pending' || phase === 'Running' || phase === 'Succeeded' || phase === 'Failed';
}

function hasOrdinaryContainer({ pod, runtime }: StatusInput): boolean {
  const [sandbox] = runtime.sandboxes;
  if (sandbox === undefined) return false;
  return runtime.containers.some(
    ({ sandboxId, config }) =>
      sandboxId === sandbox.id && pod.spec.containers.some(({ name }) => name === config.name),
  );
}

/** hostIP(s) and podIP(s). A pod keeps the address of its last sandbox when it has ended. */
function addresses({ pod, previous, runtime, hostIp }: StatusInput): PodStatus {
  const host = { hostIP: hostIp, hostIPs: [{ ip: hostIp }] };
  const sandboxIp = runtime.sandboxes.find(({ state }) => state === 'ready')?.podIp;
  const before = previous['podIP'];
  const known = sandboxIp ?? (typeof before === 'string' ? before : undefined);
  const podIp = pod.spec.hostNetwork === true ? hostIp : known;
  return podIp === undefined ? host : { ...host, podIP: podIp, podIPs: [{ ip: podIp }] };
}
