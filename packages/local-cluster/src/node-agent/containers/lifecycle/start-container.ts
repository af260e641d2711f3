/**
 * Starts one container of a pod (spec node-agent 5): crash back-off, image, configuration, create, start, post-start hook.
 *
 * Each step that fails gives the container its waiting reason: CrashLoopBackOff, ErrImagePull, ImagePullBackOff,
 * ErrImageNeverPull, InvalidImageName, CreateContainerConfigError, CreateContainerError, RunContainerError,
 * PostStartHookError; the next sync tries again from the first step. Dead instances but the newest are removed first.
 */
import type { RuntimeContainer } from '../../../runtime/cri.ts';
import { isSidecar, podName } from '../../shared/pod-object.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import type { RuntimePodStatus, WaitingReason } from '../../shared/pod-runtime.ts';
import { nextBackOff, remainingBackOffMs } from '../shared/back-off.ts';
import type { BackOff } from '../shared/back-off.ts';
import { recordContainerEvent } from '../shared/container-context.ts';
import type { ContainerContext } from '../shared/container-context.ts';
import { describePod, initContainersOf, specHashOf } from '../shared/container-spec.ts';
import type { HookSpec, RunnableContainer } from '../shared/container-spec.ts';
import { ensureImage } from './ensure-image.ts';
import type { PullFailures } from './ensure-image.ts';
import { killContainer } from './kill-container.ts';
import { runHook } from './run-hook.ts';
import { asRuntimeError, goDuration, runtimeMessage } from '../shared/runtime-words.ts';
import { orAborted } from '../shared/waiting.ts';

/** What is remembered of one pod's failures. */
export interface PodBackOffs {
  /** By container and spec hash. */
  readonly crashes: Map<string, BackOff>;
  readonly pulls: PullFailures;
}

/** What a container is started from. */
export interface StartInput {
  readonly pod: PodObject;
  readonly spec: RunnableContainer;
  readonly status: RuntimePodStatus;
  readonly sandboxId: string;
  readonly backOffs: PodBackOffs;
  /** What is missing of its configuration, e.g. `configmap "x" not found`. */
  readonly configError: string | undefined;
  readonly signal: AbortSignal;
}

/** It runs, or why it waits. */
export type StartOutcome =
  | { readonly kind: 'started' }
  | { readonly kind: 'aborted' }
  | {
      readonly kind: 'waits';
      readonly waiting: WaitingReason;
      readonly isBackOff: boolean;
      readonly retryAfterMs?: number;
    };

const STARTED: StartOutcome = { kind: 'started' };
const ABORTED: StartOutcome = { kind: 'aborted' };

/** Takes the container through all steps, as far as they succeed. */
export async function startContainer(
  context: ContainerContext,
  input: StartInput,
): Promise<StartOutcome> {
  const { pod, spec, status, signal } = input;
  if (signal.aborted) return ABORTED;
  const instances = status.containers.filter(({ config }) => config.name === spec.name);
  const crash = checkCrashBackOff(context, input, instances);
  if (crash !== undefined) return crash;
  const { pulls } = input.backOffs;
  const image = await ensureImage(context, { pod, spec, failures: pulls, signal });
  if (image.kind === 'aborted') return ABORTED;
  if (image.kind === 'absent') return { ...image, kind: 'waits' };
  if (input.configError !== undefined) {
    return fail(context, input, {
      reason: 'CreateContainerConfigError',
      message: input.configError,
    });
  }
  if (isAborted(signal)) return ABORTED;
  await removeOldInstances(context, instances);
  const attempt = (instances[0]?.config.attempt ?? -1) + 1;
  const created = await createContainer(context, input, attempt);
  if (created.kind === 'waits') return created;
  return runContainer(context, input, created.container);
}

/** Asked anew after each wait; a bare read would be taken for what it was before. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function checkCrashBackOff(
  context: ContainerContext,
  { pod, spec, backOffs }: StartInput,
  instances: readonly RuntimeContainer[],
): StartOutcome | undefined {
  const dead = instances.find(({ state }) => state === 'exited');
  if (dead === undefined) return undefined;
  const key = specHashOf(spec);
  const nowMs = context.clock.nowMs();
  const times = { failedAtMs: dead.finishedAtMs ?? nowMs, nowMs };
  const backOff = backOffs.crashes.get(key);
  const remainingMs = remainingBackOffMs(backOff, times);
  if (backOff === undefined || remainingMs === 0) {
    backOffs.crashes.set(key, nextBackOff(backOff, times));
    return undefined;
  }
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    {
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container ${spec.name} in pod ${describePod(pod)}`,
    },
  );
  const message =
    `back-off ${goDuration(backOff.delayMs)} restarting failed container=${spec.name} ` +
    `pod=${describePod(pod)}`;
  return {
    kind: 'waits',
    waiting: { reason: 'CrashLoopBackOff', message },
    isBackOff: true,
    retryAfterMs: remainingMs,
  };
}

/** Keeps the newest dead instance, for lastState; what was created and never started is of no use. */
async function removeOldInstances(
  { runtime }: ContainerContext,
  instances: readonly RuntimeContainer[],
): Promise<void> {
  const newestDead = instances.find(({ state }) => state === 'exited');
  for (const instance of instances) {
    if (instance !== newestDead && instance.state !== 'running') {
      await runtime.removeContainer(instance.id);
    }
  }
}

async function createContainer(
  context: ContainerContext,
  input: StartInput,
  attempt: number,
): Promise<
  | { readonly kind: 'created'; readonly container: RuntimeContainer }
  | Extract<StartOutcome, { kind: 'waits' }>
> {
  const { pod, spec, sandboxId } = input;
  const about = { pod, containerName: spec.name };
  try {
    const container = await context.runtime.createContainer(sandboxId, {
      name: spec.name,
      attempt,
      image: spec.image,
      specHash: specHashOf(spec),
      isAwaited: initContainersOf(pod).some((one) => one.name === spec.name && !isSidecar(one)),
    });
    for (const message of attempt === 0 ? (container.warnings ?? []) : []) {
      const event = { type: 'Warning', reason: 'InvalidSimulation', message } as const;
      recordContainerEvent(context, about, event);
    }
    recordContainerEvent(context, about, {
      type: 'Normal',
      reason: 'Created',
      message: 'Container created',
    });
    context.log.debug('container created', {
      pod: podName(pod),
      container: spec.name,
      containerId: container.id,
      attempt,
    });
    return { kind: 'created', container };
  } catch (cause) {
    return fail(context, input, {
      reason: 'CreateContainerError',
      message: runtimeMessage(asRuntimeError(cause)),
    });
  }
}

async function runContainer(
  context: ContainerContext,
  input: StartInput,
  container: RuntimeContainer,
): Promise<StartOutcome> {
  const { pod, spec } = input;
  try {
    const started = context.runtime.startContainer(container.id).then(() => true);
    if ((await orAborted(started, input.signal)) === undefined) return ABORTED;
  } catch (cause) {
    return fail(context, input, {
      reason: 'RunContainerError',
      message: runtimeMessage(asRuntimeError(cause)),
    });
  }
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    { type: 'Normal', reason: 'Started', message: 'Container started' },
  );
  context.log.debug('container started', {
    pod: podName(pod),
    container: spec.name,
    containerId: container.id,
  });
  const hook = spec.lifecycle?.postStart;
  return hook === undefined ? STARTED : postStart(context, { input, container, hook });
}

async function postStart(
  context: ContainerContext,
  step: {
    readonly input: StartInput;
    readonly container: RuntimeContainer;
    readonly hook: HookSpec;
  },
): Promise<StartOutcome> {
  const { input, container, hook } = step;
  const { pod, spec, signal } = input;
  const running = runHook(context, {
    kind: 'postStart',
    spec: hook,
    containerId: container.id,
    timeoutSeconds: Number.POSITIVE_INFINITY,
    signal,
  });
  const isSuccess = await orAborted(running, signal);
  if (isSuccess === undefined) return ABORTED;
  if (isSuccess) return STARTED;
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    { type: 'Warning', reason: 'FailedPostStartHook', message: 'PostStartHook failed' },
  );
  await killContainer(context, {
    pod,
    container: { ...container, state: 'running' },
    message: 'FailedPostStartHook',
    graceSeconds: pod.spec.terminationGracePeriodSeconds ?? 0,
    signal,
  });
  return {
    kind: 'waits',
    waiting: {
      reason: 'PostStartHookError',
      message: `PostStart lifecycle hook for Container "${spec.name}" in Pod "${describePod(pod)}" failed`,
    },
    isBackOff: false,
  };
}

function fail(
  context: ContainerContext,
  { pod, spec }: StartInput,
  waiting: { readonly reason: string; readonly message: string },
): Extract<StartOutcome, { kind: 'waits' }> {
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    { type: 'Warning', reason: 'Failed', message: `Error: ${waiting.message}` },
  );
  return { kind: 'waits', waiting, isBackOff: false };
}
