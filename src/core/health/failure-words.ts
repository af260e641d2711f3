/**
 * Words of kubelet, runtime and scheduler that tell a failure, and the sign that each is: the one place that knows them.
 *
 * Sources: rollouts facts 1, from Kubernetes 1.36 (kubelet `images/types.go`, `kuberuntime/kuberuntime_container.go`,
 * `lifecycle/predicate.go`, `allocation/allocation_manager.go`, `eviction`, `nodeshutdown`, cri-api `pkg/errors`).
 * Reasons flap, so a word only names the set that it belongs to: failures are the same when their signs are.
 * Nothing is judged here.
 */

/** What a failure is a sign of. Failures with equal signs have the same reason. */
export type FailureSign =
  | 'ImagePull'
  | 'ContainerConfig'
  | 'RuntimeRefused'
  | 'InitFailed'
  | 'NeverStarted'
  | 'Unschedulable'
  | 'PodRefused'
  | 'Crash'
  | 'OOMKilled'
  | 'NotReady'
  | 'NodeLost'
  | 'NodeRefused'
  | 'Evicted'
  | 'Rebooted';

/** How sure a waiting reason is: `certain` cannot mend itself, `retried` may. */
export interface WaitingMeaning {
  readonly sign: FailureSign;
  readonly isCertain: boolean;
}

const WAITING: Readonly<Record<string, WaitingMeaning>> = {
  InvalidImageName: { sign: 'ImagePull', isCertain: true },
  ErrImageNeverPull: { sign: 'ImagePull', isCertain: true },
  ErrImagePull: { sign: 'ImagePull', isCertain: false },
  ImagePullBackOff: { sign: 'ImagePull', isCertain: false },
  RegistryUnavailable: { sign: 'ImagePull', isCertain: false },
  SignatureValidationFailed: { sign: 'ImagePull', isCertain: false },
  ImageInspectError: { sign: 'ImagePull', isCertain: false },
  CreateContainerConfigError: { sign: 'ContainerConfig', isCertain: true },
  CreateContainerError: { sign: 'RuntimeRefused', isCertain: false },
  RunContainerError: { sign: 'RuntimeRefused', isCertain: false },
  PreCreateHookError: { sign: 'RuntimeRefused', isCertain: false },
  PreStartHookError: { sign: 'RuntimeRefused', isCertain: false },
  PostStartHookError: { sign: 'RuntimeRefused', isCertain: false },
};

/** Its second exit at least: the first one is restarted at once. */
export const CRASH_LOOP = 'CrashLoopBackOff';

/** An exit of a container whose binary or mounts the runtime could not start. */
export const START_ERROR = 'StartError';

/** The kernel's end of a container that used more memory than it may. */
export const OUT_OF_MEMORY = 'OOMKilled';

/** What a waiting reason means; undefined for CrashLoopBackOff (exits tell it) and for words that nobody knows. */
export function waitingMeaning(word: string): WaitingMeaning | undefined {
  return Object.hasOwn(WAITING, word) ? WAITING[word] : undefined;
}

/** The runtime lost track of the container, as after a reboot: nobody saw it exit. */
export function isLostExit(exit: { readonly reason: string; readonly exitCode: number }): boolean {
  if (exit.reason === 'ContainerStatusUnknown') return true;
  return exit.reason === 'Unknown' && exit.exitCode === 255;
}

/** Refusals of a kubelet that no other node of this kind would answer otherwise: the pod asks for what is forbidden there. */
const REFUSES_THE_POD: ReadonlySet<string> = new Set([
  'AppArmor',
  'SysctlForbidden',
  'PodOSNotSupported',
  'PodOSSelectorNodeLabelDoesNotMatch',
  'InitContainerRestartPolicyForbidden',
  'SupplementalGroupsPolicyNotSupported',
]);

const EVICTIONS: ReadonlySet<string> = new Set([
  'Evicted',
  'Terminated',
  'Preempting',
  'NodeShutdown',
]);

/** `OutOfcpu`, `OutOfmemory`, `OutOfpods`, `OutOf<resource>`: the node has no room for what the pod asks. */
export function isNoRoom(reason: string): boolean {
  return reason.startsWith('OutOf');
}

/** What status.reason of a failed pod says. A word that nobody knows is the node's: its controls tell whether it is not. */
export function refusalSign(reason: string): FailureSign {
  if (REFUSES_THE_POD.has(reason)) return 'PodRefused';
  return EVICTIONS.has(reason) ? 'Evicted' : 'NodeRefused';
}

/** Reasons of DisruptionTarget that say nothing about release or node: someone made room, tainted, drained or swept. */
const CALLED_AWAY: ReadonlySet<string> = new Set([
  'PreemptionByScheduler',
  'DeletionByTaintManager',
  'EvictionByEvictionAPI',
  'DeletionByPodGC',
]);

/** True if the pod goes for a reason that is neither the release's nor the node's. */
export function isCalledAway(disruption: string): boolean {
  return CALLED_AWAY.has(disruption);
}

/** A scheduling gate is somebody's wish, not a failure. */
export const SCHEDULING_GATED = 'SchedulingGated';
