/**
 * Starts one container of a pod: crash back-off, image, configuration, create, start, post-start hook.
 *
 * Each step that fails gives the container its waiting reason: CrashLoopBackOff, ErrImagePull, ImagePullBackOff,
 * ErrImageNeverPull, InvalidImageName, CreateContainerConfigError, CreateContainerError, RunContainerError,
 * PostStartHookError; the next sync tries again from the first step. Dead instances but the newest are removed first.
 */
import type { RuntimeContainer } from '../../runtime/cri.ts';
import { isSidecar, podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { RuntimePodStatus, WaitingReason } from '../shared/pod-runtime.ts';
import { nextBackOff, remainingBackOffMs } from './back-off.ts';
import type { BackOff } from './back-off.ts';
import {
  asRuntimeError,
  describePod,
  goDuration,
  initContainersOf,
  orAborted,
  recordContainerEvent,
  specHashOf,
} from './container-spec.ts';
import type { ContainerContext, HookSpec, RunnableContainer } from './container-spec.ts';
import { ensureImage } from './image-pull.ts';
import type { ImageOutcome, PullFailures } from './image-pull.ts';
import { killContainer, runHook } from './kill-pod.ts';

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

type Waits = Extract<ImageOutcome, { kind: 'waits' }>;

/** It runs, or why it waits. */
export type StartOutcome = { readonly kind: 'started' } | { readonly kind: 'aborted' } | Waits;

const STARTED: StartOutcome = { kind: 'started' };
const ABORTED: StartOutcome = { kind: 'aborted' };
const GRPC_FRAME = /^rpc error: code = \w+ desc = /;

/** Takes the container through all steps, as far as they succeed. */
export async function startContainer(
  context: ContainerContext,
  input: StartInput,
): Promise<StartOutcome> {
  const { pod, spec, status, backOffs, signal } = input;
  if (signal.aborted) return ABORTED;
  const instances = status.containers.filter(({ config }) => config.name === spec.name);
  const crash = checkCrashBackOff(context, input, instances);
  if (crash !== undefined) return crash;
  const image = await ensureImage(context, { pod, spec, failures: backOffs.pulls, signal });
  if (image.kind !== 'present') return image;
  if (input.configError !== undefined) {
    const message = input.configError;
    return fail(context, input, { reason: 'CreateContainerConfigError', message });
  }
  await removeOldInstances(context, instances);
  const attempt = (instances[0]?.config.attempt ?? -1) + 1;
  try {
    const container = await createContainer(context, input, attempt);
    return await runContainer(context, input, container);
  } catch (cause) {
    const { code, message } = asRuntimeError(cause);
    const reason = code === 'Start' ? 'RunContainerError' : 'CreateContainerError';
    return fail(context, input, { reason, message: message.replace(GRPC_FRAME, '') });
  }
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
  const retryAfterMs = remainingBackOffMs(backOff, times);
  if (backOff === undefined || retryAfterMs === 0) {
    backOffs.crashes.set(key, nextBackOff(backOff, times));
    return undefined;
  }
  const text = `Back-off restarting failed container ${spec.name} in pod ${describePod(pod)}`;
  tell(context, { pod, spec }, ['Warning', 'BackOff', text]);
  const message =
    `back-off ${goDuration(backOff.delayMs)} restarting failed container=${spec.name} ` +
    `pod=${describePod(pod)}`;
  const waiting = { reason: 'CrashLoopBackOff', message };
  return { kind: 'waits', waiting, isBackOff: true, retryAfterMs };
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
): Promise<RuntimeContainer> {
  const { pod, spec, sandboxId } = input;
  const container = await context.runtime.createContainer(sandboxId, {
    name: spec.name,
    attempt,
    image: spec.image,
    specHash: specHashOf(spec),
    isAwaited: initContainersOf(pod).some((one) => one.name === spec.name && !isSidecar(one)),
  });
  for (const message of attempt === 0 ? (container.warnings ?? []) : []) {
    tell(context, input, ['Warning', 'InvalidSimulation', message]);
  }
  tell(context, input, ['Normal', 'Created', 'Container created']);
  const about = { pod: podName(pod), container: spec.name, containerId: container.id };
  context.log.debug('container created', { ...about, attempt });
  return container;
}

async function runContainer(
  context: ContainerContext,
  input: StartInput,
  container: RuntimeContainer,
): Promise<StartOutcome> {
  const { pod, spec, signal } = input;
  const starting = context.runtime.startContainer(container.id).then(() => true);
  if ((await orAborted(starting, signal)) === undefined) return ABORTED;
  tell(context, input, ['Normal', 'Started', 'Container started']);
  const about = { pod: podName(pod), container: spec.name, containerId: container.id };
  context.log.debug('container started', about);
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
  const asked = { kind: 'postStart', containerId: container.id, timeoutSeconds: Infinity } as const;
  const isSuccess = await orAborted(runHook(context, hook, asked), signal);
  if (isSuccess === undefined) return ABORTED;
  if (isSuccess) return STARTED;
  tell(context, input, ['Warning', 'FailedPostStartHook', 'PostStartHook failed']);
  await killContainer(context, {
    pod,
    container: { ...container, state: 'running' },
    message: 'FailedPostStartHook',
    graceSeconds: pod.spec.terminationGracePeriodSeconds ?? 0,
  });
  const message = `PostStart lifecycle hook for Container "${spec.name}" in Pod "${describePod(pod)}" failed`;
  return { kind: 'waits', waiting: { reason: 'PostStartHookError', message }, isBackOff: false };
}

function fail(
  context: ContainerContext,
  about: Pick<StartInput, 'pod' | 'spec'>,
  waiting: Required<WaitingReason>,
): Waits {
  tell(context, about, ['Warning', 'Failed', `Error: ${waiting.message}`]);
  return { kind: 'waits', waiting, isBackOff: false };
}

function tell(
  context: ContainerContext,
  { pod, spec }: Pick<StartInput, 'pod' | 'spec'>,
  [type, reason, message]: readonly ['Normal' | 'Warning', string, string],
): void {
  recordContainerEvent(context, { pod, name: spec.name }, { type, reason, message });
}
