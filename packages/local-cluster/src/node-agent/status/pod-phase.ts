/**
 * The phase of a pod, from its spec and its containers' statuses (spec node-agent 7).
 *
 * Pending until every ordinary container has been started; Running while one runs or will be started again; Succeeded or
 * Failed when none will. A sidecar that ended counts for nothing. Pure; a terminal phase once reached is kept elsewhere.
 */
import { isSidecar } from '../shared/pod-object.ts';
import type { ContainerSpec, ContainerStatus, PodObject } from '../shared/pod-object.ts';
import { shouldRestartAfterExit } from './restart-rules.ts';

/** What the phase is computed from. */
export interface PhaseInput {
  readonly pod: PodObject;
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initContainerStatuses: readonly ContainerStatus[];
  /** Containers are stopped for good: nothing is restarted whatever the policy says. */
  readonly isTerminal: boolean;
  readonly isStatic: boolean;
  /** An ordinary container exists in the newest sandbox. */
  readonly hasInitialized: boolean;
}

/** The phase. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

interface Counts {
  pendingInit: number;
  pendingSidecars: number;
  failedInitForGood: number;
  unknown: number;
  running: number;
  waiting: number;
  stopped: number;
  stoppedForGood: number;
  succeeded: number;
}

/** Computes the phase. */
export function podPhase(input: PhaseInput): PodPhase {
  const counts: Counts = {
    pendingInit: 0,
    pendingSidecars: 0,
    failedInitForGood: 0,
    unknown: 0,
    running: 0,
    waiting: 0,
    stopped: 0,
    stoppedForGood: 0,
    succeeded: 0,
  };
  for (const container of input.pod.spec.initContainers ?? []) {
    const status = input.initContainerStatuses.find(({ name }) => name === container.name);
    if (isSidecar(container)) countSidecar(counts, status);
    else countInit(counts, { container, status, input });
  }
  for (const container of input.pod.spec.containers) {
    const status = input.containerStatuses.find(({ name }) => name === container.name);
    countContainer(counts, { container, status, input });
  }
  return phaseOf(counts, input);
}

function phaseOf(counts: Counts, input: PhaseInput): PodPhase {
  if (counts.failedInitForGood > 0) return 'Failed';
  if (isPending(counts, input)) return 'Pending';
  if (counts.running > 0) return 'Running';
  if (counts.stopped === 0) return 'Pending';
  const outcome = counts.stopped === counts.succeeded ? 'Succeeded' : 'Failed';
  if (input.isTerminal && !input.isStatic) return outcome;
  return counts.stopped === counts.stoppedForGood ? outcome : 'Running';
}

function isPending(counts: Counts, { hasInitialized }: PhaseInput): boolean {
  const isInitializing = counts.pendingInit > 0 || (counts.pendingSidecars > 0 && !hasInitialized);
  return isInitializing || counts.waiting > 0 || counts.unknown > 0;
}

interface One {
  readonly container: ContainerSpec;
  readonly status: ContainerStatus | undefined;
  readonly input: PhaseInput;
}

function countInit(counts: Counts, { container, status, input }: One): void {
  const ended = status?.state.terminated;
  const endedBefore = status?.state.waiting === undefined ? undefined : status.lastState.terminated;
  const { exitCode } = ended ?? endedBefore ?? {};
  if (exitCode === undefined) {
    counts.pendingInit += 1;
  } else if (exitCode !== 0 && !shouldRestartAfterExit(container, input.pod.spec, exitCode)) {
    counts.failedInitForGood += 1;
  }
}

function countSidecar(counts: Counts, status: ContainerStatus | undefined): void {
  if (status === undefined) {
    counts.unknown += 1;
  } else if (status.state.running !== undefined) {
    counts.running += 1;
    if (status.started !== true) counts.pendingSidecars += 1;
  } else if (status.state.terminated === undefined && status.lastState.terminated === undefined) {
    counts.pendingSidecars += 1;
    counts.waiting += 1;
  }
}

function countContainer(counts: Counts, { container, status, input }: One): void {
  if (status === undefined) {
    counts.unknown += 1;
    return;
  }
  if (status.state.running !== undefined) {
    counts.running += 1;
    return;
  }
  const { terminated } = status.state;
  const exitCode = (terminated ?? status.lastState.terminated)?.exitCode;
  if (exitCode === undefined) {
    counts.waiting += 1;
    return;
  }
  counts.stopped += 1;
  if (!shouldRestartAfterExit(container, input.pod.spec, exitCode)) counts.stoppedForGood += 1;
  if (terminated !== undefined && exitCode === 0) counts.succeeded += 1;
}
