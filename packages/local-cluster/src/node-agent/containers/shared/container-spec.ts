/**
 * Containers of a pod as the container stages read them: pull policy, hooks and probes besides what pod-object.ts knows.
 *
 * Views onto raw JSON: nothing is copied or validated, the API server has done that. Ephemeral containers are not read.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../../objects/api-object.ts';
import type { ContainerSpec, PodObject } from '../../shared/pod-object.ts';

/** A probe of a container; the API server has filled in periods and thresholds. */
export interface ProbeSpec extends JsonObject {
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
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

/** The pod with its spec; the API server has validated it. */
export function asPod(pod: ApiObject): PodObject {
  return pod as PodObject;
}

/** spec.initContainers, in order. */
export function initContainersOf(pod: PodObject): readonly RunnableContainer[] {
  return pod.spec.initContainers ?? NONE;
}

/** spec.containers, in order. */
export function containersOf(pod: PodObject): readonly RunnableContainer[] {
  return pod.spec.containers;
}

/** The container of that name, init or ordinary. */
export function findContainer(pod: PodObject, name: string): RunnableContainer | undefined {
  return (
    containersOf(pod).find((container) => container.name === name) ??
    initContainersOf(pod).find((container) => container.name === name)
  );
}

/** Changes when the container has to be made anew: its name and image (the kubelet's HashContainer takes no more). */
export function specHashOf(container: ContainerSpec): string {
  return `${container.name} ${container.image}`;
}

/** `spec.containers{agent}`: what an Event about the container points to. */
export function fieldPathOf(pod: PodObject, name: string): string {
  const isInit = initContainersOf(pod).some((container) => container.name === name);
  return isInit ? `spec.initContainers{${name}}` : `spec.containers{${name}}`;
}

/** `name_namespace(uid)`, as the kubelet's messages name a pod. */
export function describePod({ metadata }: ApiObject): string {
  return `${metadata.name}_${metadata.namespace ?? ''}(${metadata.uid})`;
}
