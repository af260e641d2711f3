/**
 * containerStatuses and initContainerStatuses: what the runtime holds, told in the API's words (spec node-agent 7).
 *
 * A container waits with the reason of the last sync, else with ContainerCreating, or PodInitializing when init
 * containers come first. Its status survives the container: an ended one that the runtime has forgotten stays ended,
 * one that ran and vanished counts as ended with 137. Pure. Differs from Kubernetes: no `user`, no image volumes.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { RuntimeContainer } from '../../runtime/cri.ts';
import type { ProbeManager, RuntimePodStatus, WaitingReason } from '../shared/pod-runtime.ts';
import { isSidecar, uidOf } from '../shared/pod-object.ts';
import type {
  ContainerSpec,
  ContainerState,
  ContainerStatus,
  PodObject,
} from '../shared/pod-object.ts';
import { shouldBeStarted } from './restart-rules.ts';

/** What container statuses are made from. */
export interface ContainerStatusInput {
  readonly pod: PodObject;
  readonly runtime: RuntimePodStatus;
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  readonly probes: Pick<ProbeManager, 'isReady' | 'isStarted'>;
}

/** Which list is made. */
export interface ContainerList {
  readonly containers: readonly ContainerSpec[];
  readonly previous: readonly ContainerStatus[];
  readonly areInit: boolean;
}

const NOT_LOCATED: ContainerState = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message:
      'The container could not be located when the pod was deleted.  The container used to be Running',
  },
};

/** The statuses of one list: init containers in the order of the spec, ordinary ones by name. */
export function containerStatuses(
  input: ContainerStatusInput,
  list: ContainerList,
): readonly ContainerStatus[] {
  const statuses = list.containers.map((container) =>
    containerStatus(input, {
      container,
      previous: list.previous.find(({ name }) => name === container.name),
      isInit: list.areInit,
    }),
  );
  if (list.areInit || statuses.length < 2) return statuses;
  return statuses.sort((left, right) => (left.name < right.name ? -1 : 1));
}

interface OneContainer {
  readonly container: ContainerSpec;
  readonly previous: ContainerStatus | undefined;
  readonly isInit: boolean;
}

function containerStatus(input: ContainerStatusInput, one: OneContainer): ContainerStatus {
  const instances = input.runtime.containers.filter(
    ({ config }) => config.name === one.container.name,
  );
  const [latest, before] = instances;
  const base =
    latest === undefined
      ? statusWithoutContainer(input.pod, one)
      : statusOfContainer(one, { latest, before });
  const status = withWaitingReason(base, { input, one, latest });
  return withReadiness(status, { input, one, latest });
}

function statusWithoutContainer(
  pod: PodObject,
  { container, previous }: OneContainer,
): ContainerStatus {
  if (previous?.state.terminated !== undefined) return previous;
  const hasInit = (pod.spec.initContainers ?? []).length > 0;
  return {
    name: container.name,
    state: { waiting: { reason: hasInit ? 'PodInitializing' : 'ContainerCreating' } },
    ...historyWithoutContainer(pod, previous),
    ready: false,
    image: container.image,
    imageID: '',
    ...volumeMountsOf(container),
  };
}

/** A container that ran and that the runtime does not know any more must have ended, nobody knows how. */
function historyWithoutContainer(
  pod: PodObject,
  previous: ContainerStatus | undefined,
): Pick<ContainerStatus, 'lastState' | 'restartCount'> {
  if (previous === undefined) return { lastState: {}, restartCount: 0 };
  const { state, lastState, restartCount } = previous;
  if (state.running === undefined || lastState.terminated !== undefined) {
    return { lastState, restartCount };
  }
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  return { lastState: NOT_LOCATED, restartCount: restartCount + (isDeleted ? 0 : 1) };
}

function statusOfContainer(
  { container, previous }: OneContainer,
  { latest, before }: { latest: RuntimeContainer; before: RuntimeContainer | undefined },
): ContainerStatus {
  const containerID = `containerd://${latest.id}`;
  const requests = container.resources?.requests;
  return {
    name: container.name,
    state: stateOf(latest),
    lastState: before === undefined ? inheritedLastState(previous, containerID) : stateOf(before),
    ready: false,
    restartCount: Math.max(latest.config.attempt, previous?.restartCount ?? 0),
    image: latest.config.image,
    imageID: latest.imageId,
    containerID,
    ...(requests === undefined ? {} : { allocatedResources: requests }),
    resources: container.resources ?? {},
    ...volumeMountsOf(container),
  };
}

/** The end of the instance before, when the runtime no longer has it. */
function inheritedLastState(
  previous: ContainerStatus | undefined,
  containerID: string,
): ContainerState {
  if (previous === undefined) return {};
  const { terminated } = previous.state;
  if (previous.containerID !== containerID && terminated !== undefined) return { terminated };
  return previous.lastState;
}

function stateOf(container: RuntimeContainer): ContainerState {
  const startedAt = formatTime(container.startedAtMs ?? container.createdAtMs);
  if (container.state === 'running') return { running: { startedAt } };
  if (container.state === 'created') return { waiting: {} };
  return {
    terminated: {
      exitCode: container.exitCode ?? 0,
      ...(container.reason === undefined ? {} : { reason: container.reason }),
      startedAt,
      finishedAt: formatTime(container.finishedAtMs ?? container.createdAtMs),
      containerID: `containerd://${container.id}`,
    },
  };
}

function volumeMountsOf(container: ContainerSpec): {
  readonly volumeMounts?: readonly JsonObject[];
} {
  const mounts = container.volumeMounts ?? [];
  if (mounts.length === 0) return {};
  return {
    volumeMounts: mounts.map(({ name, mountPath, readOnly }) =>
      readOnly === true
        ? { name, mountPath, readOnly, recursiveReadOnly: 'Disabled' }
        : { name, mountPath },
    ),
  };
}

interface Context {
  readonly input: ContainerStatusInput;
  readonly one: OneContainer;
  readonly latest: RuntimeContainer | undefined;
}

/** A container that the next sync would start waits for the reason that the last sync met. */
function withWaitingReason(status: ContainerStatus, context: Context): ContainerStatus {
  const { input, one, latest } = context;
  const { container } = one;
  if (one.isInit && !isSidecar(container)) {
    if (latest?.exitCode === 0) return status;
    if (latest === undefined && hasInitialized(input)) {
      return status.state.waiting === undefined ? status : { ...status, state: ASSUMED_COMPLETED };
    }
  }
  if (!shouldBeStarted(container, input.pod, latest)) return status;
  const waiting = input.waiting.get(container.name);
  if (waiting === undefined) return status;
  return { ...status, lastState: endedStateOf(status), state: { waiting: { ...waiting } } };
}

function endedStateOf({ state, lastState }: ContainerStatus): ContainerState {
  return state.terminated === undefined ? lastState : state;
}

const ASSUMED_COMPLETED: ContainerState = {
  terminated: {
    exitCode: 0,
    reason: 'Completed',
    message:
      'Unable to get init container status from container runtime and pod has been initialized, treat it as exited normally',
  },
};

/** Init containers that the runtime has forgotten have completed when an ordinary container exists. */
function hasInitialized({ pod, runtime }: ContainerStatusInput): boolean {
  const names = new Set(pod.spec.containers.map(({ name }) => name));
  return runtime.containers.some(({ config }) => names.has(config.name));
}

function withReadiness(status: ContainerStatus, context: Context): ContainerStatus {
  const { input, one, latest } = context;
  const uid = uidOf(input.pod);
  const isRunning = status.state.running !== undefined && latest !== undefined;
  const started = isRunning && input.probes.isStarted(uid, latest);
  const isCompletedInit =
    one.isInit && !isSidecar(one.container) && status.state.terminated?.exitCode === 0;
  const isServing = !one.isInit || isSidecar(one.container);
  const ready = isCompletedInit || (isServing && started && input.probes.isReady(uid, latest));
  return { ...status, ready, started };
}
