/**
 * Image pull: makes sure that a container's image is on the machine, by its pull policy, with the kubelet's events and
 * back-off: ErrImagePull, then ImagePullBackOff 10 s doubling to 5 min, by pod and image. Differs from Kubernetes: pull
 * secrets play no part; the pod is looked at again when the back-off ends, not at the next resync.
 */
import type { RuntimeError } from '../../runtime/cri.ts';
import { podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { WaitingReason } from '../shared/pod-runtime.ts';
import { nextBackOff, remainingBackOffMs } from './back-off.ts';
import type { BackOff } from './back-off.ts';
import { asRuntimeError, goDuration, orAborted, recordContainerEvent } from './container-spec.ts';
import type { ContainerContext, RunnableContainer } from './container-spec.ts';

/** The failed pulls of one pod, by image. */
export type PullFailures = Map<string, { readonly backOff: BackOff; readonly message: string }>;

/** The image is there, or why not. */
export type ImageOutcome =
  | { readonly kind: 'present' }
  | { readonly kind: 'aborted' }
  | {
      readonly kind: 'waits';
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
const PRESENT: ImageOutcome = { kind: 'present' };

/** Pulls the image if its policy wants that; records Pulling, Pulled, Failed and BackOff. */
export async function ensureImage(
  context: ContainerContext,
  input: PullInput,
): Promise<ImageOutcome> {
  const { image, imagePullPolicy } = input.spec;
  if (!IMAGE_NAME.test(image)) {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
    tell(context, input, ['Warning', 'InspectFailed', message]);
    return waits(context, input, { reason: 'InvalidImageName', message });
  }
  if (imagePullPolicy !== 'Always' && context.runtime.hasImage(image)) {
    const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
    tell(context, input, ['Normal', 'Pulled', message]);
    return PRESENT;
  }
  if (imagePullPolicy === 'Never') {
    const message = `Container image "${image}" is not present with pull policy of Never`;
    tell(context, input, ['Warning', 'ErrImageNeverPull', message]);
    return waits(context, input, { reason: 'ErrImageNeverPull', message });
  }
  return inBackOff(context, input) ?? (await pull(context, input));
}

function inBackOff(context: ContainerContext, input: PullInput): ImageOutcome | undefined {
  const { image } = input.spec;
  const failure = input.failures.get(image);
  if (failure === undefined) return undefined;
  const { backOff } = failure;
  const nowMs = context.clock.nowMs();
  const retryAfterMs = remainingBackOffMs(backOff, { failedAtMs: backOff.updatedAtMs, nowMs });
  if (retryAfterMs === 0) return undefined;
  const message = `Back-off pulling image "${image}"`;
  tell(context, input, ['Normal', 'BackOff', message]);
  const waiting = { reason: 'ImagePullBackOff', message: `${message}: ${failure.message}` };
  return { ...waits(context, input, waiting), isBackOff: true, retryAfterMs };
}

async function pull(context: ContainerContext, input: PullInput): Promise<ImageOutcome> {
  const { pod, spec, signal } = input;
  const { image } = spec;
  const about = { pod: podName(pod), container: spec.name, image };
  tell(context, input, ['Normal', 'Pulling', `Pulling image "${image}"`]);
  const startMs = context.clock.monotonicMs();
  try {
    const request = { image, podUid: pod.metadata.uid, containerName: spec.name };
    const pulled = await orAborted(context.runtime.pullImage(request), signal);
    if (pulled === undefined) return { kind: 'aborted' };
    const waitedMs = context.clock.monotonicMs() - startMs;
    const message =
      `Successfully pulled image "${image}" in ${goDuration(pulled.pullMs)} ` +
      `(${goDuration(waitedMs)} including waiting). Image size: ${pulled.sizeBytes} bytes.`;
    tell(context, input, ['Normal', 'Pulled', message]);
    context.log.debug('image pull', { ...about, durationMs: waitedMs });
    return PRESENT;
  } catch (cause) {
    const error = asRuntimeError(cause);
    context.log.debug('image pull', { ...about, error: error.message });
    return failedPull(context, input, error);
  }
}

function failedPull(
  context: ContainerContext,
  input: PullInput,
  { message }: RuntimeError,
): ImageOutcome {
  const { image } = input.spec;
  const nowMs = context.clock.nowMs();
  const before = input.failures.get(image)?.backOff;
  const backOff = nextBackOff(before, { failedAtMs: nowMs, nowMs });
  input.failures.set(image, { backOff, message: `ErrImagePull: ${message}` });
  tell(context, input, ['Warning', 'Failed', `Failed to pull image "${image}": ${message}`]);
  const outcome = waits(context, input, { reason: 'ErrImagePull', message });
  return { ...outcome, retryAfterMs: backOff.delayMs };
}

function waits(
  context: ContainerContext,
  input: PullInput,
  waiting: WaitingReason,
): Extract<ImageOutcome, { kind: 'waits' }> {
  tell(context, input, ['Warning', 'Failed', `Error: ${waiting.reason}`]);
  return { kind: 'waits', waiting, isBackOff: false };
}

function tell(
  context: ContainerContext,
  { pod, spec }: PullInput,
  [type, reason, message]: readonly ['Normal' | 'Warning', string, string],
): void {
  recordContainerEvent(context, { pod, name: spec.name }, { type, reason, message });
}
