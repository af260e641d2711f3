/**
 * The fields of a pod that its table reads.
 *
 * Stored pods have passed decoding and validation, so the cast is sound.
 */
import type { ApiObject } from '../objects/api-object.ts';

/** One of waiting, running, terminated. */
interface ContainerStateView {
  readonly waiting?: { readonly reason?: string };
  readonly running?: object;
  readonly terminated?: {
    readonly reason?: string;
    readonly exitCode: number;
    readonly signal?: number;
    readonly finishedAt?: string | null;
  };
}

/** Status of a container. */
export interface ContainerStatusView {
  readonly name: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state?: ContainerStateView;
  readonly lastState?: ContainerStateView;
}

/** A condition of a pod. */
export interface PodConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

/** A pod. */
export interface PodView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly {
      readonly name: string;
      readonly restartPolicy?: string;
    }[];
    readonly readinessGates?: readonly { readonly conditionType: string }[];
  };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly nominatedNodeName?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly PodConditionView[];
    readonly initContainerStatuses?: readonly ContainerStatusView[];
    readonly containerStatuses?: readonly ContainerStatusView[];
  };
}

/** A stored pod as its view. */
export function viewPod(object: ApiObject): PodView {
  return object as ApiObject & PodView;
}
