/**
 * Pods as the node agent reads them: views onto raw JSON with the fields that some stage looks at.
 *
 * Nothing is copied and nothing validates: the API server has filled in defaults before a pod gets here.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../objects/api-object.ts';

/** requests and limits of a container. */
export interface ResourceRequirements extends JsonObject {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** A container of a pod spec, ordinary or init. */
export interface ContainerSpec extends JsonObject {
  readonly name: string;
  readonly image: string;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
  readonly resources?: ResourceRequirements;
  readonly ports?: readonly (JsonObject & {
    readonly hostPort?: number;
    readonly protocol?: string;
    readonly hostIP?: string;
  })[];
  readonly env?: readonly JsonObject[];
  readonly envFrom?: readonly JsonObject[];
}

/** A volume: its name and one member that names its source. */
export interface VolumeSpec extends JsonObject {
  readonly name: string;
}

/** spec of a pod. */
export interface PodSpec extends JsonObject {
  readonly nodeName?: string;
  readonly hostNetwork?: boolean;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly containers: readonly ContainerSpec[];
  readonly initContainers?: readonly ContainerSpec[];
  readonly volumes?: readonly VolumeSpec[];
  readonly imagePullSecrets?: readonly (JsonObject & { readonly name: string })[];
}

/** state and lastState of a container status: exactly one member, or none for lastState. */
export interface ContainerState extends JsonObject {
  readonly waiting?: JsonObject & { readonly reason?: string; readonly message?: string };
  readonly running?: JsonObject & { readonly startedAt: string };
  readonly terminated?: JsonObject & { readonly exitCode: number; readonly reason?: string };
}

/** One of containerStatuses or initContainerStatuses. */
export interface ContainerStatus extends JsonObject {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
}

/** A condition of a pod or a node. */
export interface Condition extends JsonObject {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
}

/** status of a pod. */
export interface PodStatus extends JsonObject {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly startTime?: string;
  readonly qosClass?: string;
}

/** A pod. */
export interface PodObject extends ApiObject {
  readonly metadata: Metadata;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

/** UID of a pod. */
export function uidOf(pod: ApiObject): string {
  return pod.metadata.uid;
}

/** `namespace/name`, as log lines name a pod. */
export function podName(pod: ApiObject): string {
  return `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
}

/** Succeeded and Failed are left by no pod. */
export function isTerminalPhase(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** A sidecar: an init container that stays running. */
export function isSidecar(container: ContainerSpec): boolean {
  return container.restartPolicy === 'Always';
}

/** Is a container that ended with this exit code started again? Differs from Kubernetes: no restartPolicyRules. */
export function shouldRestartAfterExit(
  container: ContainerSpec,
  { spec }: PodObject,
  exitCode: number,
): boolean {
  const policy = container.restartPolicy ?? spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}
