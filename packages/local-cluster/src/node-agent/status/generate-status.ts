/**
 * The status of a pod, from its spec, the runtime, the probes and what was written last: phase, conditions, containers,
 * addresses, in the kubelet's words. Pure.
 *
 * A pod never leaves Succeeded or Failed. A condition's time changes with its status only. Differs from Kubernetes: no
 * deadline of a pod, nothing of resizes.
 */
import { needsNewSandbox } from '../containers/compute-actions.ts';
import { isSidecar, isTerminalPhase, shouldRestartAfterExit } from '../shared/pod-object.ts';
import type { Condition, ContainerStatus, PodObject, PodStatus } from '../shared/pod-object.ts';
import { qosClassOf } from '../shared/pod-resources.ts';
import { containerStatuses, initContainerStatuses } from './container-statuses.ts';
import type { ContainerStatusInput } from './container-statuses.ts';

/** What a status is made from. */
export interface StatusInput extends ContainerStatusInput {
  /** What the status manager holds, else the pod's own. */
  readonly previous: PodStatus;
  /** The containers are stopped for good. */
  readonly isTerminal: boolean;
  readonly hostIp: string;
  readonly nowText: string;
}

type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface Statuses {
  readonly containers: readonly ContainerStatus[];
  readonly inits: readonly ContainerStatus[];
}

const OWN_CONDITIONS: ReadonlySet<string> = new Set([
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

/** Does the node agent own this condition? Others are left alone. */
export function isOwnCondition({ type }: Condition): boolean {
  return OWN_CONDITIONS.has(type);
}

/** Computes the status; of its conditions, the agent's own. */
export function generateStatus(input: StatusInput): PodStatus {
  const { pod, previous, nowText } = input;
  const containers = containerStatuses(input, previous.containerStatuses);
  const inits = initContainerStatuses(input, previous.initContainerStatuses);
  const statuses = { containers, inits };
  const outcome = phaseWithReason(input, statuses);
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  return {
    ...observed,
    ...outcome,
    conditions: conditionsOf(input, statuses, outcome.phase).map((condition) => {
      const known = previous.conditions?.find(({ type }) => type === condition.type);
      const since = known?.status === condition.status ? known.lastTransitionTime : undefined;
      return { ...condition, ...observed, lastTransitionTime: since ?? nowText };
    }),
    ...addresses(input),
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    containerStatuses: containers,
    qosClass: pod.status?.qosClass ?? qosClassOf(pod.spec),
    startTime: previous.startTime ?? nowText,
  };
}

interface Outcome {
  readonly phase: PodPhase;
  readonly reason?: string;
  readonly message?: string;
}

/** Reason and message belong to the phase, and last as long as it does. */
function phaseWithReason(input: StatusInput, statuses: Statuses): Outcome {
  const { pod, previous } = input;
  const ended = [pod.status?.phase, previous.phase].find(isTerminalPhase);
  const phase = ended === 'Succeeded' || ended === 'Failed' ? ended : phaseOf(input, statuses);
  const known = [previous, pod.status].find((status) => status?.phase === phase);
  const { reason, message } = known ?? {};
  return {
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/**
 * Pending until every ordinary container has been started; Running while one runs or will be started again; Succeeded or
 * Failed when none will. A sidecar that ended counts for nothing.
 */
function phaseOf(input: StatusInput, { containers, inits }: Statuses): PodPhase {
  const { pod, runtime, isTerminal } = input;
  const specs = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const isSidecarStatus = ({ name }: ContainerStatus): boolean =>
    specs.some((spec) => spec.name === name && isSidecar(spec));
  const restarts = (status: ContainerStatus): boolean => {
    const spec = specs.find(({ name }) => name === status.name);
    return spec !== undefined && shouldRestartAfterExit(spec, pod, exitCodeOf(status) ?? 0);
  };
  const sidecars = inits.filter(isSidecarStatus);
  const once = inits.filter((status) => !isSidecarStatus(status));
  if (once.some((status) => (exitCodeOf(status) ?? 0) !== 0 && !restarts(status))) return 'Failed';
  const [sandbox] = runtime.sandboxes;
  const hasInitialized = runtime.containers.some(
    ({ sandboxId, config }) =>
      sandboxId === sandbox?.id && pod.spec.containers.some(({ name }) => name === config.name),
  );
  const isInitializing =
    once.some((status) => exitCodeOf(status) === undefined) ||
    (!hasInitialized && sidecars.some(({ started }) => started !== true));
  const isWaiting = [...sidecars, ...containers].some(
    (status) => status.state.running === undefined && exitCodeOf(status) === undefined,
  );
  if (isInitializing || isWaiting) return 'Pending';
  if ([...sidecars, ...containers].some(({ state }) => state.running !== undefined)) {
    return 'Running';
  }
  if (!isTerminal && containers.some(restarts)) return 'Running';
  const hasSucceeded = containers.every(({ state }) => state.terminated?.exitCode === 0);
  return hasSucceeded ? 'Succeeded' : 'Failed';
}

/** How a container that does not run ended; undefined while it runs, or has not run yet. */
function exitCodeOf({ state, lastState }: ContainerStatus): number | undefined {
  if (state.running !== undefined) return undefined;
  return (state.terminated ?? lastState.terminated)?.exitCode;
}

/** In the order in which the kubelet lists them. */
function conditionsOf(
  { pod, runtime }: StatusInput,
  { containers, inits }: Statuses,
  phase: PodPhase,
): readonly Condition[] {
  const sidecarNames = new Set((pod.spec.initContainers ?? []).filter(isSidecar).map(nameOf));
  const sidecars = inits.filter(({ name }) => sidecarNames.has(name));
  const unready = [...sidecars, ...containers].filter(({ ready }) => !ready).map(nameOf);
  const hasStarted = containers.some(({ state }) => state.waiting === undefined);
  const incomplete = inits
    .filter(({ name, started, ready }) => !(sidecarNames.has(name) ? started === true : ready))
    .map(nameOf);
  const isInitialized = incomplete.length === 0 || hasStarted || phase === 'Succeeded';
  const notReady =
    phase === 'Succeeded' || phase === 'Failed'
      ? { reason: phase === 'Failed' ? 'PodFailed' : 'PodCompleted' }
      : because('ContainersNotReady', 'unready', unready);
  const isReady = unready.length === 0 && !isTerminalPhase(phase);
  const ready = isReady ? { status: 'True' } : { status: 'False', ...notReady };
  return [
    {
      type: 'PodReadyToStartContainers',
      status: needsNewSandbox(pod, runtime) ? 'False' : 'True',
    },
    {
      type: 'Initialized',
      ...(isInitialized
        ? { status: 'True', ...(phase === 'Succeeded' ? { reason: 'PodCompleted' } : {}) }
        : { status: 'False', ...because('ContainersNotInitialized', 'incomplete', incomplete) }),
    },
    { type: 'Ready', ...readyByGates(pod, ready) },
    { type: 'ContainersReady', ...ready },
    { type: 'PodScheduled', status: 'True' },
  ];
}

type Readiness = Pick<Condition, 'status' | 'reason' | 'message'>;

/** That of its containers, withheld while a gate has no condition of its type that is true. */
function readyByGates({ spec, status }: PodObject, ready: Readiness): Readiness {
  const closed = (spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = status?.conditions?.find(({ type }) => type === conditionType);
    if (found === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    if (found.status === 'True') return [];
    return [
      `the status of pod readiness gate "${conditionType}" is not "True", but ${found.status}`,
    ];
  });
  if (closed.length === 0 || ready.status !== 'True') return ready;
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: closed.join(', ') };
}

function because(
  reason: string,
  adjective: string,
  names: readonly string[],
): Pick<Condition, 'reason' | 'message'> {
  return { reason, message: `containers with ${adjective} status: [${names.join(' ')}]` };
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
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
