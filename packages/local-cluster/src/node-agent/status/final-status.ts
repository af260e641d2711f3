/**
 * The last status of a pod whose work is done: no container is left in doubt and the phase is terminal.
 *
 * Whatever end is unknown counts as a failure with 137. Containers of a pod that never got past its init containers stay
 * waiting: the init container's failure says enough. Pure.
 */
import { isSidecar, isStaticPod, isTerminalPhase } from '../shared/pod-object.ts';
import type { ContainerStatus, PodObject, PodStatus } from '../shared/pod-object.ts';

const UNKNOWN_END: ContainerStatus['state'] = {
  terminated: {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
  },
};

/** `status` is the newest one that is known. */
export function finalStatus(pod: PodObject, status: PodStatus): PodStatus {
  const inits = status.initContainerStatuses ?? [];
  const begun = initContainersBegun(inits);
  const containers = status.containerStatuses ?? [];
  const isTerminal = isStaticPod(pod) || isTerminalPhase(status.phase);
  return {
    ...status,
    ...(inits.length === 0
      ? {}
      : {
          initContainerStatuses: inits.map((init, index) => (index < begun ? ended(init) : init)),
        }),
    ...(containers.length === 0
      ? {}
      : { containerStatuses: hasInitialized(pod, status) ? containers.map(ended) : containers }),
    ...(isTerminal ? {} : { phase: 'Failed' }),
  };
}

function ended(status: ContainerStatus): ContainerStatus {
  return status.state.terminated === undefined ? { ...status, state: UNKNOWN_END } : status;
}

/** All but the last ones that have never been started; always at least one. */
function initContainersBegun(statuses: readonly ContainerStatus[]): number {
  const lastBegun = statuses.findLastIndex(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  return Math.max(lastBegun + 1, Math.min(1, statuses.length));
}

function hasInitialized(pod: PodObject, status: PodStatus): boolean {
  const inits = pod.spec.initContainers ?? [];
  const last = inits.at(-1);
  if (last === undefined) return true;
  const hasMoved = (status.containerStatuses ?? []).some(
    ({ state, lastState }) => state.waiting === undefined || lastState.terminated !== undefined,
  );
  if (hasMoved) return true;
  const lastStatus = status.initContainerStatuses?.find(({ name }) => name === last.name);
  if (lastStatus === undefined) return false;
  if (isSidecar(last)) return lastStatus.state.running !== undefined && lastStatus.started === true;
  return [lastStatus.state, lastStatus.lastState].some(
    ({ terminated }) => terminated?.exitCode === 0,
  );
}
