/**
 * What the container stages share: containers as they read them, events about them, words of the kubelet's messages.
 *
 * Views onto raw JSON; the API server has validated it.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { RuntimeError } from '../../runtime/cri.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../runtime/cri.ts';
import type { EventRecorder } from '../shared/event-recorder.ts';
import type { ContainerSpec, PodObject } from '../shared/pod-object.ts';
import type { RuntimePodStatus } from '../shared/pod-runtime.ts';

/** What the container stages of one node agent work with. */
export interface ContainerContext {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly record: EventRecorder;
  readonly log: Log;
}

/** A probe of a container. */
export interface ProbeSpec extends JsonObject {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
}

/** What a lifecycle hook does: exec, httpGet, tcpSocket, or sleep. */
export interface HookSpec extends JsonObject {
  readonly sleep?: JsonObject & { readonly seconds: number };
}

/** A container with all that running it needs. */
export interface RunnableContainer extends ContainerSpec {
  readonly imagePullPolicy?: string;
  readonly lifecycle?: JsonObject & { readonly postStart?: HookSpec; readonly preStop?: HookSpec };
  readonly startupProbe?: ProbeSpec;
  readonly livenessProbe?: ProbeSpec;
  readonly readinessProbe?: ProbeSpec;
}

const NONE: readonly RunnableContainer[] = [];

/** spec.initContainers, in order. */
export function initContainersOf(pod: PodObject): readonly RunnableContainer[] {
  return pod.spec.initContainers ?? NONE;
}

/** spec.containers, in order. */
export function containersOf(pod: PodObject): readonly RunnableContainer[] {
  return pod.spec.containers;
}

/** Changes when the container has to be made anew: its name and image (the kubelet's HashContainer takes no more). */
export function specHashOf(container: ContainerSpec): string {
  return `${container.name} ${container.image}`;
}

/** The newest instance of a container. */
export function latestContainer(
  status: RuntimePodStatus,
  name: string,
): RuntimeContainer | undefined {
  return status.containers.find(({ config }) => config.name === name);
}

/** `name_namespace(uid)`, as the kubelet's messages name a pod. */
export function describePod({ metadata }: PodObject): string {
  return `${metadata.name}_${metadata.namespace ?? ''}(${metadata.uid})`;
}

/** Records an Event about a container of a pod. */
export function recordContainerEvent(
  { record }: Pick<ContainerContext, 'record'>,
  { pod, name }: { readonly pod: PodObject; readonly name: string },
  event: {
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly message: string;
  },
): void {
  const isInit = initContainersOf(pod).some((container) => container.name === name);
  const list = isInit ? 'initContainers' : 'containers';
  record({ about: pod, fieldPath: `spec.${list}{${name}}`, ...event });
}

/** A refusal of the runtime as a value; anything else is a bug and goes on. */
export function asRuntimeError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  throw error;
}

/** Durations as Go writes them: `340ms`, `1.5s`, `10s`, `1m20s`, `5m0s`. */
export function goDuration(durationMs: number): string {
  const roundMs = Math.round(durationMs);
  if (roundMs < 1000) return roundMs <= 0 ? '0s' : `${roundMs}ms`;
  const hours = Math.floor(roundMs / 3_600_000);
  const minutes = Math.floor((roundMs % 3_600_000) / 60_000);
  const seconds = `${(roundMs % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** The promise's value, or undefined when the signal aborts first; what comes after that is dropped. */
export function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      resolve(undefined);
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
