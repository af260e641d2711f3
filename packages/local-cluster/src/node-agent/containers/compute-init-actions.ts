/**
 * How far a pod's init containers are, and which comes next: the kubelet's computeInitContainerActions.
 *
 * Init containers run one after another; a sidecar (restartPolicy Always) counts as done once it has started, and stays
 * running. Seen from the last one backwards, because ended ones may have been removed: whatever comes before one that
 * exists has been done. Once an ordinary container exists, only sidecars matter. Pure.
 */
import type { RuntimeContainer } from '../../runtime/cri.ts';
import { isSidecar } from '../shared/pod-object.ts';
import { shouldRestartAfterExit } from '../status/restart-rules.ts';
import { containersOf, initContainersOf, specHashOf } from './shared/container-spec.ts';
import type { RunnableContainer } from './shared/container-spec.ts';
import { latestContainer } from './shared/pod-actions.ts';
import type { ActionInput, KillOrder } from './shared/pod-actions.ts';

/** Where initialisation stands. */
export interface InitActions {
  /** All are done: ordinary containers may start. */
  readonly isInitialized: boolean;
  /** One failed and must not be tried again: the pod has failed. */
  readonly isFailed: boolean;
  readonly toKill: readonly KillOrder[];
  /** In the order of the spec. */
  readonly toStart: readonly RunnableContainer[];
}

interface Progress {
  isInitialized: boolean;
  /** Has an init container after the one in hand been seen, or an ordinary one? */
  isPassed: boolean;
  readonly toKill: KillOrder[];
  readonly startIndexes: Set<number>;
}

interface InitStep {
  readonly index: number;
  readonly spec: RunnableContainer;
  readonly latest: RuntimeContainer;
  readonly isLast: boolean;
}

/** Computes what the init containers need. */
export function computeInitActions(input: ActionInput): InitActions {
  const { pod, status } = input;
  const specs = initContainersOf(pod);
  const hasOrdinary = containersOf(pod).some(({ name }) => {
    const state = latestContainer(status, name)?.state;
    return state === 'created' || state === 'running';
  });
  const progress: Progress = {
    isInitialized: specs.length === 0 || hasOrdinary,
    isPassed: hasOrdinary,
    toKill: [],
    startIndexes: new Set(),
  };
  for (let index = specs.length - 1; index >= 0; index -= 1) {
    const spec = specs[index];
    if (spec === undefined) continue;
    const latest = latestContainer(status, spec.name);
    if (latest === undefined) {
      if (progress.isPassed && isSidecar(spec)) progress.startIndexes.add(index);
      continue;
    }
    if (progress.isPassed && !isSidecar(spec)) continue;
    const step = { index, spec, latest, isLast: index === specs.length - 1 };
    if (!takeStep(input, step, progress)) return FAILED;
    progress.isPassed = true;
  }
  if (!progress.isPassed && specs.length > 0) progress.startIndexes.add(0);
  const toStart = specs.filter((_spec, index) => progress.startIndexes.has(index));
  return {
    isInitialized: progress.isInitialized,
    isFailed: false,
    toKill: progress.toKill,
    toStart,
  };
}

const FAILED: InitActions = { isInitialized: false, isFailed: true, toKill: [], toStart: [] };

/** Looks at one init container; false: it has failed for good. */
function takeStep(input: ActionInput, step: InitStep, progress: Progress): boolean {
  const { latest, spec, index } = step;
  if (latest.state === 'created') {
    progress.startIndexes.add(index);
    return true;
  }
  if (latest.state === 'running') {
    if (isSidecar(spec)) keepSidecar(input, step, progress);
    return true;
  }
  if (isSidecar(spec)) {
    progress.startIndexes.add(index);
    return true;
  }
  const exitCode = latest.exitCode ?? 0;
  if (exitCode === 0) {
    complete(step, progress);
    return true;
  }
  if (!shouldRestartAfterExit(spec, input.pod.spec, exitCode)) return false;
  progress.startIndexes.add(index);
  return true;
}

function keepSidecar(input: ActionInput, step: InitStep, progress: Progress): void {
  const { spec, latest, index } = step;
  const failed = input.failedProbes.get(latest.id);
  const isStarted = spec.startupProbe === undefined || input.startedProbe.get(spec.name) === true;
  if (isStarted && failed !== 'startup') complete(step, progress);
  const isChanged = isStarted && latest.config.specHash !== specHashOf(spec);
  const cause = isChanged ? 'changed' : failed;
  if (cause === undefined) return;
  const message = isChanged
    ? `Init container ${spec.name} definition changed`
    : `Init container ${spec.name} failed ${cause} probe`;
  progress.toKill.push({ container: latest, spec, cause, message });
  progress.startIndexes.add(index);
}

function complete({ index, isLast }: InitStep, progress: Progress): void {
  if (isLast) progress.isInitialized = true;
  else if (!progress.isPassed) progress.startIndexes.add(index + 1);
}
