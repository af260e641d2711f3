/**
 * What must be killed and started for a pod to be as its spec says: the kubelet's computePodActions. Pure.
 *
 * No name is started while an instance of it runs that is not killed first, no ordinary container before every init
 * container is done (a sidecar: started), nothing without a ready sandbox. Differs from Kubernetes: no ephemeral
 * containers, no resize in place, no restart rules by exit code.
 */
import type { RuntimeContainer, Sandbox } from '../../runtime/cri.ts';
import { isSidecar, shouldRestartAfterExit } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { RuntimePodStatus } from '../shared/pod-runtime.ts';
import { containersOf, initContainersOf, latestContainer, specHashOf } from './container-spec.ts';
import type { RunnableContainer } from './container-spec.ts';

/** A running container that has to go, and why. */
export interface KillOrder {
  readonly container: RuntimeContainer;
  readonly message: string;
}

/** What to do, in this order. */
export interface PodActions {
  /** Stop everything and the sandbox. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** Number of the sandbox. */
  readonly attempt: number;
  readonly toKill: readonly KillOrder[];
  readonly initToStart: readonly RunnableContainer[];
  readonly toStart: readonly RunnableContainer[];
}

/** What the actions follow from. */
export interface ActionInput {
  readonly pod: PodObject;
  readonly status: RuntimePodStatus;
  readonly startedProbe: ReadonlyMap<string, boolean>;
  readonly failedProbes: ReadonlyMap<string, 'liveness' | 'startup'>;
}

/** Is there no single ready sandbox with its network (the kubelet's PodSandboxChanged)? */
export function needsNewSandbox(pod: PodObject, { sandboxes }: RuntimePodStatus): boolean {
  const [newest] = sandboxes;
  const readyCount = sandboxes.filter(({ state }) => state === 'ready').length;
  if (newest?.state !== 'ready' || readyCount !== 1) return true;
  return pod.spec.hostNetwork !== true && newest.podIp === undefined;
}

/** Computes the actions for one pod. */
export function computeActions(input: ActionInput): PodActions {
  const { pod, status } = input;
  const [sandbox] = status.sandboxes;
  if (sandbox === undefined || needsNewSandbox(pod, status)) return newSandbox(input, sandbox);
  const { attempt } = sandbox.config;
  const base = { killPod: false, createSandbox: false, attempt, toStart: [] };
  const end = { ...base, killPod: true, toKill: [], initToStart: [] };
  const init = initActions(input);
  if (init === 'failed') return end;
  if (!init.isInitialized) return { ...base, toKill: init.toKill, initToStart: init.toStart };
  const ordinary = ordinaryActions(input);
  // Everything has ended for good: sidecars must not keep the pod alive.
  if (!ordinary.isAnyKept && ordinary.toStart.length === 0) return end;
  return {
    ...base,
    toKill: [...init.toKill, ...ordinary.toKill],
    initToStart: init.toStart,
    toStart: ordinary.toStart,
  };
}

function newSandbox({ pod, status }: ActionInput, replaced: Sandbox | undefined): PodActions {
  const attempt = replaced === undefined ? 0 : replaced.config.attempt + 1;
  const base = { killPod: true, attempt, toKill: [], initToStart: [], toStart: [] };
  const hasRun = replaced !== undefined && status.containers.length > 0;
  const toStart = containersOf(pod).filter((container) => {
    const latest = latestContainer(status, container.name);
    if (latest?.state !== 'exited') return true;
    return shouldRestartAfterExit(container, pod, latest.exitCode ?? 0);
  });
  if ((pod.spec.restartPolicy === 'Never' && hasRun) || toStart.length === 0) {
    return { ...base, createSandbox: false };
  }
  const [firstInit] = initContainersOf(pod);
  return firstInit === undefined
    ? { ...base, createSandbox: true, toStart }
    : { ...base, createSandbox: true, initToStart: [firstInit] };
}

interface InitActions {
  /** All are done: ordinary containers may start. */
  readonly isInitialized: boolean;
  readonly toKill: readonly KillOrder[];
  readonly toStart: readonly RunnableContainer[];
}

/** Init containers run one after another; a sidecar counts as done once it has started, and stays running. */
function initActions(input: ActionInput): InitActions | 'failed' {
  const { pod, status } = input;
  const toKill: KillOrder[] = [];
  const toStart: RunnableContainer[] = [];
  // Once an ordinary container is alive all init containers are done, and only sidecars matter.
  const isPassed = containersOf(pod).some(({ name }) => {
    const state = latestContainer(status, name)?.state;
    return state === 'created' || state === 'running';
  });
  for (const spec of initContainersOf(pod)) {
    if (isPassed && !isSidecar(spec)) continue;
    const step = isSidecar(spec) ? sidecarStep(input, spec) : onceStep(input, spec);
    if (step.order !== undefined) toKill.push(step.order);
    if (step.next === 'fail') return 'failed';
    if (step.next === 'start') toStart.push(spec);
    if (!step.isDone && !isPassed) return { isInitialized: false, toKill, toStart };
  }
  return { isInitialized: true, toKill, toStart };
}

interface InitStep {
  readonly isDone: boolean;
  readonly next: 'start' | 'wait' | 'fail';
  readonly order?: KillOrder | undefined;
}

function sidecarStep(input: ActionInput, spec: RunnableContainer): InitStep {
  const latest = latestContainer(input.status, spec.name);
  if (latest?.state !== 'running') return { isDone: false, next: 'start' };
  const order = killOrder(input, { spec, latest });
  const isDone = spec.startupProbe === undefined || input.startedProbe.get(spec.name) === true;
  return { isDone, next: order === undefined ? 'wait' : 'start', order };
}

function onceStep({ pod, status }: ActionInput, spec: RunnableContainer): InitStep {
  const latest = latestContainer(status, spec.name);
  if (latest?.state === 'running') return { isDone: false, next: 'wait' };
  if (latest?.state !== 'exited') return { isDone: false, next: 'start' };
  const { exitCode = 0 } = latest;
  if (exitCode === 0) return { isDone: true, next: 'wait' };
  const isRestarted = shouldRestartAfterExit(spec, pod, exitCode);
  return { isDone: false, next: isRestarted ? 'start' : 'fail' };
}

interface OrdinaryActions {
  readonly toKill: readonly KillOrder[];
  readonly toStart: readonly RunnableContainer[];
  /** Does one of them run on? */
  readonly isAnyKept: boolean;
}

function ordinaryActions(input: ActionInput): OrdinaryActions {
  const { pod, status } = input;
  const toKill: KillOrder[] = [];
  const toStart: RunnableContainer[] = [];
  let isAnyKept = false;
  for (const spec of containersOf(pod)) {
    const latest = latestContainer(status, spec.name);
    if (latest?.state === 'running') {
      const order = killOrder(input, { spec, latest });
      if (order === undefined) isAnyKept = true;
      else toKill.push(order);
      if (order?.message.endsWith(RESTARTED) === true) toStart.push(spec);
    } else if (
      latest?.state !== 'exited' ||
      shouldRestartAfterExit(spec, pod, latest.exitCode ?? 0)
    ) {
      toStart.push(spec);
    }
  }
  return { toKill, toStart, isAnyKept };
}

const RESTARTED = ', will be restarted';

/** Why a running container must be killed: another image, or a probe that failed for good. */
function killOrder(
  { pod, failedProbes }: ActionInput,
  { spec, latest }: { readonly spec: RunnableContainer; readonly latest: RuntimeContainer },
): KillOrder | undefined {
  const isChanged = latest.config.specHash !== specHashOf(spec);
  const probe = failedProbes.get(latest.id);
  if (!isChanged && probe === undefined) return undefined;
  const why = isChanged ? 'definition changed' : `failed ${probe ?? ''} probe`;
  const isRestarted = isChanged || (spec.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
  const message = `Container ${spec.name} ${why}${isRestarted ? RESTARTED : ''}`;
  return { container: latest, message };
}
