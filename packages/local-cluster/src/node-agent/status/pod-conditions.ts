/**
 * The conditions that the node agent owns: PodReadyToStartContainers, Initialized, Ready, ContainersReady, PodScheduled
 * (spec node-agent 7), with the kubelet's reasons and messages. Pure.
 *
 * Ready is ContainersReady and every readiness gate; sidecars count among the containers. A container without a status
 * is unknown, which is not ready. Transition times are the status manager's, conditions of others are kept by the
 * caller.
 */
import type { RuntimePodStatus } from '../shared/pod-runtime.ts';
import { isSidecar } from '../shared/pod-object.ts';
import type { Condition, ContainerSpec, ContainerStatus, PodObject } from '../shared/pod-object.ts';
import type { PodPhase } from './pod-phase.ts';

/** What conditions are made from. */
export interface ConditionInput {
  readonly pod: PodObject;
  readonly phase: PodPhase;
  readonly runtime: RuntimePodStatus;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initContainerStatuses: readonly ContainerStatus[];
  /** Conditions of others, for readiness gates. */
  readonly foreign: readonly Condition[];
}

type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>;

const TRUE: ConditionState = { status: 'True' };

const OWN_TYPES: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

/** Does the node agent own this condition type? */
export function isOwnCondition(type: string): boolean {
  return OWN_TYPES.has(type);
}

/** The agent's conditions, in the order in which the kubelet lists them, without transition times. */
export function podConditions(input: ConditionInput): readonly Condition[] {
  const containersReady = containersReadyState(input);
  const ready = containersReady.status === 'True' ? readinessGates(input) : containersReady;
  const sandboxReady: ConditionState = { status: needsNewSandbox(input) ? 'False' : 'True' };
  const { generation } = input.pod.metadata;
  const condition = (type: string, state: ConditionState): Condition => ({
    type,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...state,
  });
  return [
    condition('PodReadyToStartContainers', sandboxReady),
    condition('Initialized', initializedState(input)),
    condition('Ready', ready),
    condition('ContainersReady', containersReady),
    condition('PodScheduled', TRUE),
  ];
}

/** Is there no single ready sandbox with its network (kubelet's PodSandboxChanged)? */
function needsNewSandbox({ pod, runtime }: ConditionInput): boolean {
  const [newest] = runtime.sandboxes;
  if (newest?.state !== 'ready') return true;
  if (runtime.sandboxes.filter(({ state }) => state === 'ready').length > 1) return true;
  const isHostNetwork = pod.spec.hostNetwork === true;
  if (newest.config.isHostNetwork !== isHostNetwork) return true;
  return !isHostNetwork && newest.podIp === undefined;
}

function initializedState(input: ConditionInput): ConditionState {
  const containers = input.pod.spec.initContainers ?? [];
  if (containers.length === 0) {
    return input.phase === 'Succeeded' ? { ...TRUE, reason: 'PodCompleted' } : TRUE;
  }
  const { unknown, failing } = sort(containers, input.initContainerStatuses, (container, status) =>
    isSidecar(container) ? status.started === true : status.ready,
  );
  if (input.phase === 'Succeeded' && unknown.length === 0) {
    return { ...TRUE, reason: 'PodCompleted' };
  }
  const hasStarted = input.containerStatuses.some(
    ({ state }) => state.running !== undefined || state.terminated !== undefined,
  );
  if (hasStarted || unknown.length + failing.length === 0) return TRUE;
  return {
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: describe(unknown, failing, 'incomplete'),
  };
}

function containersReadyState(input: ConditionInput): ConditionState {
  const sidecars = (input.pod.spec.initContainers ?? []).filter(isSidecar);
  const { unknown, failing } = sort(
    [...sidecars, ...input.pod.spec.containers],
    [...input.initContainerStatuses, ...input.containerStatuses],
    (_, status) => status.ready,
  );
  if (input.phase === 'Succeeded' && unknown.length === 0) {
    return { status: 'False', reason: 'PodCompleted' };
  }
  if (input.phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  if (unknown.length + failing.length === 0) return TRUE;
  return {
    status: 'False',
    reason: 'ContainersNotReady',
    message: describe(unknown, failing, 'unready'),
  };
}

function readinessGates({ pod, foreign }: ConditionInput): ConditionState {
  const messages = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = foreign.find(({ type }) => type === conditionType);
    if (condition === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    if (condition.status === 'True') return [];
    return [
      `the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`,
    ];
  });
  if (messages.length === 0) return TRUE;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: messages.join(', ') };
}

function sort(
  containers: readonly ContainerSpec[],
  statuses: readonly ContainerStatus[],
  isGood: (container: ContainerSpec, status: ContainerStatus) => boolean,
): { readonly unknown: readonly string[]; readonly failing: readonly string[] } {
  const unknown: string[] = [];
  const failing: string[] = [];
  for (const container of containers) {
    const status = statuses.find(({ name }) => name === container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!isGood(container, status)) failing.push(container.name);
  }
  return { unknown, failing };
}

function describe(
  unknown: readonly string[],
  failing: readonly string[],
  adjective: string,
): string {
  const parts: string[] = [];
  if (unknown.length > 0) parts.push(`containers with unknown status: [${unknown.join(' ')}]`);
  if (failing.length > 0) {
    parts.push(`containers with ${adjective} status: [${failing.join(' ')}]`);
  }
  return parts.join(', ');
}
