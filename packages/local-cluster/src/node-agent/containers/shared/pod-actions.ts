/**
 * What one sync may have to do for a pod, as values, and what that follows from.
 *
 * compute-actions.ts decides, sync-pod-containers.ts carries out; neither knows more of the other than this.
 */
import type { RuntimeContainer } from '../../../runtime/cri.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import type { RuntimePodStatus } from '../../shared/pod-runtime.ts';
import type { RunnableContainer } from './container-spec.ts';

/** A running container that has to go. */
export interface KillOrder {
  readonly container: RuntimeContainer;
  readonly spec: RunnableContainer;
  readonly message: string;
  readonly cause: 'liveness' | 'startup' | 'changed';
}

/** What to do, in this order. */
export interface PodActions {
  /** Stop everything and the sandbox. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The sandbox to start containers in; when one is to be created, the one that it replaces. */
  readonly sandboxId?: string;
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

/** The newest instance of a container. */
export function latestContainer(
  status: RuntimePodStatus,
  name: string,
): RuntimeContainer | undefined {
  return status.containers.find(({ config }) => config.name === name);
}
