/**
 * containerStatuses and initContainerStatuses: what the runtime holds, told in the API's words. Pure.
 *
 * A container waits with the reason of the last sync, else with ContainerCreating, or PodInitializing when init
 * containers come first. One that ran and that the runtime does not know any more (its machine was off) counts as ended
 * with 137. Differs from Kubernetes: no resources, mounts, users or image volumes.
 */
import { formatTime } from '../../objects/timestamps.ts';
import type { RuntimeContainer } from '../../runtime/cri.ts';
import { isSidecar, shouldRestartAfterExit, uidOf } from '../shared/pod-object.ts';
import type {
  ContainerSpec,
  ContainerState,
  ContainerStatus,
  PodObject,
} from '../shared/pod-object.ts';
import type { ProbeManager, RuntimePodStatus, WaitingReason } from '../shared/pod-runtime.ts';

/** What container statuses are made from. */
export interface ContainerStatusInput {
  readonly pod: PodObject;
  readonly runtime: RuntimePodStatus;
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  readonly probes: Pick<ProbeManager, 'isReady' | 'isStarted'>;
}

const NOT_LOCATED: ContainerState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message:
      'The container could not be located when the pod was deleted.  The container used to be Running',
  },
};

/** The statuses of init containers, in the order of the spec. */
export function initContainerStatuses(
  input: ContainerStatusInput,
  previous: readonly ContainerStatus[] = [],
): readonly ContainerStatus[] {
  return (input.pod.spec.initContainers ?? []).map((container) =>
    containerStatus(input, { container, previous, isInit: !isSidecar(container) }),
  );
}

/** The statuses of ordinary containers, by name. */
export function containerStatuses(
  input: ContainerStatusInput,
  previous: readonly ContainerStatus[] = [],
): readonly ContainerStatus[] {
  return input.pod.spec.containers
    .map((container) => containerStatus(input, { container, previous, isInit: false }))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

interface One {
  readonly container: ContainerSpec;
  readonly previous: readonly ContainerStatus[];
  /** It runs once, before the others. */
  readonly isInit: boolean;
}

function containerStatus(input: ContainerStatusInput, one: One): ContainerStatus {
  const { pod, runtime, probes } = input;
  const { container, isInit } = one;
  const { name } = container;
  const [latest, before] = runtime.containers.filter(({ config }) => config.name === name);
  const previous = one.previous.find((status) => status.name === name);
  const base =
    latest === undefined
      ? statusWithoutContainer(pod, container, previous)
      : statusOfContainer({ latest, before, previous });
  const status = withWaitingReason(base, input, { container, latest });
  const isRunning = status.state.running !== undefined && latest !== undefined;
  const started = isRunning && probes.isStarted(uidOf(pod), latest);
  const ready = isInit
    ? status.state.terminated?.exitCode === 0
    : started && probes.isReady(uidOf(pod), latest);
  return { ...status, ready, started };
}

function statusWithoutContainer(
  pod: PodObject,
  { name, image }: ContainerSpec,
  previous: ContainerStatus | undefined,
): ContainerStatus {
  if (previous?.state.terminated !== undefined) return previous;
  const hasInit = (pod.spec.initContainers ?? []).length > 0;
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  const { state, lastState = {}, restartCount = 0 } = previous ?? {};
  const wasRunning = state?.running !== undefined;
  return {
    name,
    state: { waiting: { reason: hasInit ? 'PodInitializing' : 'ContainerCreating' } },
    lastState: wasRunning ? NOT_LOCATED : lastState,
    restartCount: restartCount + (wasRunning && !isDeleted ? 1 : 0),
    ready: false,
    image,
    imageID: '',
  };
}

function statusOfContainer(of: {
  readonly latest: RuntimeContainer;
  readonly before: RuntimeContainer | undefined;
  readonly previous: ContainerStatus | undefined;
}): ContainerStatus {
  const { latest, before, previous } = of;
  const { name, attempt, image } = latest.config;
  const containerID = `containerd://${latest.id}`;
  const isSame = previous?.containerID === containerID || previous?.state.terminated === undefined;
  const inherited = isSame ? (previous?.lastState ?? {}) : endOf(previous);
  return {
    name,
    state: stateOf(latest),
    lastState: before === undefined ? inherited : stateOf(before),
    ready: false,
    restartCount: Math.max(attempt, previous?.restartCount ?? 0),
    image,
    imageID: latest.imageId,
    containerID,
  };
}

function stateOf(container: RuntimeContainer): ContainerState {
  const { id, reason, exitCode = 0, createdAtMs } = container;
  const startedAt = formatTime(container.startedAtMs ?? createdAtMs);
  if (container.state === 'running') return { running: { startedAt } };
  if (container.state === 'created') return { waiting: {} };
  const finishedAt = formatTime(container.finishedAtMs ?? createdAtMs);
  const end = { exitCode, startedAt, finishedAt, containerID: `containerd://${id}` };
  return { terminated: { ...end, ...(reason === undefined ? {} : { reason }) } };
}

/** A container that the next sync would start waits for the reason that the last sync met. */
function withWaitingReason(
  status: ContainerStatus,
  { pod, waiting }: ContainerStatusInput,
  of: { readonly container: ContainerSpec; readonly latest: RuntimeContainer | undefined },
): ContainerStatus {
  const { container, latest } = of;
  const reason = waiting.get(container.name);
  if (reason === undefined || pod.metadata.deletionTimestamp !== undefined) return status;
  const isToStart =
    latest?.state === 'exited'
      ? shouldRestartAfterExit(container, pod, latest.exitCode ?? 0)
      : latest?.state !== 'running';
  if (!isToStart) return status;
  return { ...status, lastState: endOf(status), state: { waiting: { ...reason } } };
}

/** How it ended last. */
function endOf({ state, lastState }: ContainerStatus): ContainerState {
  return state.terminated === undefined ? lastState : { terminated: state.terminated };
}
