/**
 * Makes sure that a container's image is on the machine, by its pull policy, with the kubelet's events and back-off
 * (spec node-agent 5): ErrImagePull, then ImagePullBackOff 10 s doubling to 5 min, by pod and image.
 *
 * Differs from Kubernetes: pull secrets play no part; the pod is looked at again when the back-off ends, not at the
 * next resync.
 */
import { asRuntimeError, goDuration } from '../shared/runtime-words.ts';
import type { RuntimeError } from '../../../runtime/cri.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import { nextBackOff, remainingBackOffMs } from '../shared/back-off.ts';
import type { BackOff } from '../shared/back-off.ts';
import type { RunnableContainer } from '../shared/container-spec.ts';
import { recordContainerEvent } from '../shared/container-context.ts';
import type { ContainerContext } from '../shared/container-context.ts';
import type { WaitingReason } from '../../shared/pod-runtime.ts';
import { podName } from '../../shared/pod-object.ts';
import { orAborted } from '../shared/waiting.ts';

/** The failed pulls of one pod, by image. */
export type PullFailures = Map<string, { readonly backOff: BackOff; readonly message: string }>;

/** The image is there, or why not. */
export type ImageOutcome =
  | { readonly kind: 'present' }
  | { readonly kind: 'aborted' }
  | {
      readonly kind: 'absent';
      readonly waiting: WaitingReason;
      readonly retryAfterMs?: number;
      /** Back-off is no failure of the sync. */
      readonly isBackOff: boolean;
    };

interface PullInput {
  readonly pod: PodObject;
  readonly spec: RunnableContainer;
  readonly failures: PullFailures;
  readonly signal: AbortSignal;
}

const IMAGE_NAME =
  /^(?:[A-Za-z0-9.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;

/** Pulls the image if its policy wants that; records Pulling, Pulled, Failed and BackOff. */
export async function ensureImage(
  context: ContainerContext,
  input: PullInput,
): Promise<ImageOutcome> {
  const { image, imagePullPolicy } = input.spec;
  if (!IMAGE_NAME.test(image)) {
    return refuse(context, input, {
      reason: 'InvalidImageName',
      event: { type: 'Warning', reason: 'InspectFailed' },
      message: `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`,
    });
  }
  if (imagePullPolicy !== 'Always' && context.runtime.hasImage(image)) {
    // The text of 1.35 and later, where the kubelet checks who may use an image that is there.
    tell(context, input, {
      reason: 'Pulled',
      message: `Container image "${image}" already present on machine and can be accessed by the pod`,
    });
    return PRESENT;
  }
  if (imagePullPolicy === 'Never') {
    return refuse(context, input, {
      reason: 'ErrImageNeverPull',
      event: { type: 'Warning', reason: 'ErrImageNeverPull' },
      message: `Container image "${image}" is not present with pull policy of Never`,
    });
  }
  return inBackOff(context, input) ?? (await pull(context, input));
}

const PRESENT: ImageOutcome = { kind: 'present' };

function inBackOff(context: ContainerContext, input: PullInput): ImageOutcome | undefined {
  const { image } = input.spec;
  const failure = input.failures.get(image);
  if (failure === undefined) return undefined;
  const remainingMs = remainingBackOffMs(failure.backOff, {
    failedAtMs: failure.backOff.updatedAtMs,
    nowMs: context.clock.nowMs(),
  });
  if (remainingMs === 0) return undefined;
  const outcome = refuse(context, input, {
    reason: 'ImagePullBackOff',
    event: { type: 'Normal', reason: 'BackOff' },
    message: `Back-off pulling image "${image}"`,
  });
  return {
    ...outcome,
    waiting: {
      reason: 'ImagePullBackOff',
      message: `Back-off pulling image "${image}": ${failure.message}`,
    },
    retryAfterMs: remainingMs,
    isBackOff: true,
  };
}

async function pull(context: ContainerContext, input: PullInput): Promise<ImageOutcome> {
  const { pod, spec, signal } = input;
  const { image } = spec;
  tell(context, input, { reason: 'Pulling', message: `Pulling image "${image}"` });
  const startMs = context.clock.monotonicMs();
  try {
    const request = { image, podUid: pod.metadata.uid, containerName: spec.name };
    const pulled = await orAborted(context.runtime.pullImage(request), signal);
    if (pulled === undefined) return { kind: 'aborted' };
    const waitedMs = context.clock.monotonicMs() - startMs;
    tell(context, input, {
      reason: 'Pulled',
      message:
        `Successfully pulled image "${image}" in ${goDuration(pulled.pullMs)} ` +
        `(${goDuration(waitedMs)} including waiting). Image size: ${pulled.sizeBytes} bytes.`,
    });
    context.log.debug('image pull', {
      pod: podName(pod),
      container: spec.name,
      image,
      durationMs: waitedMs,
    });
    return PRESENT;
  } catch (cause) {
    return failedPull(context, input, asRuntimeError(cause));
  }
}

function failedPull(
  context: ContainerContext,
  input: PullInput,
  error: RuntimeError,
): ImageOutcome {
  const { pod, spec, failures } = input;
  const { image } = spec;
  const nowMs = context.clock.nowMs();
  const backOff = nextBackOff(failures.get(image)?.backOff, { failedAtMs: nowMs, nowMs });
  failures.set(image, { backOff, message: `ErrImagePull: ${error.message}` });
  context.log.debug('image pull', {
    pod: podName(pod),
    container: spec.name,
    image,
    error: error.message,
  });
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    {
      type: 'Warning',
      reason: 'Failed',
      message: `Failed to pull image "${image}": ${error.message}`,
    },
  );
  recordFailed(context, input, 'ErrImagePull');
  return {
    kind: 'absent',
    waiting: { reason: 'ErrImagePull', message: error.message },
    retryAfterMs: backOff.delayMs,
    isBackOff: false,
  };
}

function refuse(
  context: ContainerContext,
  input: PullInput,
  refusal: {
    readonly reason: string;
    readonly event: { readonly type: 'Normal' | 'Warning'; readonly reason: string };
    readonly message: string;
  },
): Extract<ImageOutcome, { kind: 'absent' }> {
  const about = { pod: input.pod, containerName: input.spec.name };
  recordContainerEvent(context, about, { ...refusal.event, message: refusal.message });
  recordFailed(context, input, refusal.reason);
  return {
    kind: 'absent',
    waiting: { reason: refusal.reason, message: refusal.message },
    isBackOff: false,
  };
}

function recordFailed(context: ContainerContext, { pod, spec }: PullInput, reason: string): void {
  recordContainerEvent(
    context,
    { pod, containerName: spec.name },
    { type: 'Warning', reason: 'Failed', message: `Error: ${reason}` },
  );
}

function tell(
  context: ContainerContext,
  { pod, spec }: PullInput,
  event: { readonly reason: string; readonly message: string },
): void {
  recordContainerEvent(context, { pod, containerName: spec.name }, { type: 'Normal', ...event });
}
