/**
 * The seam between a pod's script (sync-pod.ts) and what drives the runtime (containers/*).
 *
 * The script asks for one pod at a time, from that pod's worker; results are values.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ProbeKind, RuntimeContainer, RuntimeEvent, Sandbox } from '../../runtime/cri.ts';
import type { PodObject } from './pod-object.ts';

/** What the runtime holds of one pod, newest sandbox and containers first. */
export interface RuntimePodStatus {
  readonly podUid: string;
  readonly sandboxes: readonly Sandbox[];
  readonly containers: readonly RuntimeContainer[];
}

/** Why a container is not running although it should: `waiting` of its status. */
export interface WaitingReason {
  /** ContainerCreating, PodInitializing, ErrImagePull, ImagePullBackOff, CrashLoopBackOff, CreateContainerConfigError, … */
  readonly reason: string;
  readonly message?: string;
}

/** What one SyncPod came to. */
export interface PodSyncResult {
  /** By container name (init and ordinary): why it waits. */
  readonly waiting: ReadonlyMap<string, WaitingReason>;
  /** What went wrong, worst first; empty when all that could be done was done. */
  readonly failures: readonly { readonly action: string; readonly message: string }[];
  /** When the pod must be looked at again although nothing happens (back-off ends); undefined: no need. */
  readonly retryAfterMs?: number;
}

/** Drives the runtime for pods. */
export interface PodRuntime {
  status(podUid: string): RuntimePodStatus;
  /** Computes what must be killed and started, and does it as far as it goes now. */
  syncPod(input: {
    readonly pod: PodObject;
    readonly cgroupParent: string;
    /** Names of the pod's ConfigMaps and Secrets that are missing, as `configmap "x" not found`, by container. */
    readonly configErrors: ReadonlyMap<string, string>;
    /** By container name: has its startup probe succeeded? Needed of sidecars that have one. */
    readonly startedProbe: ReadonlyMap<string, boolean>;
    /** By container ID: the probe that wants the container restarted (`ProbeManager.failures`). */
    readonly failedProbes: ReadonlyMap<string, 'liveness' | 'startup'>;
    readonly signal: AbortSignal;
  }): Promise<PodSyncResult>;
  /** Pre-stop hooks, SIGTERM, grace, SIGKILL, then the sandbox is stopped. Resolves when nothing runs. */
  killPod(input: { readonly pod: PodObject; readonly graceSeconds: number }): Promise<void>;
  /** Removes the pod's dead containers and sandboxes. */
  removePod(podUid: string): Promise<void>;
  /** Forgets back-off of a pod that is gone. */
  forget(podUid: string): void;
  /** A container has started or ended. */
  onEvent(listener: (event: RuntimeEvent) => void): Cancel;
}

/** A probe's result changed. */
export interface ProbeResult {
  readonly podUid: string;
  readonly containerName: string;
  readonly containerId: string;
  readonly kind: ProbeKind;
  readonly isSuccess: boolean;
}

/** Runs the probes of pods that run. */
export interface ProbeManager {
  /** Starts or adjusts probing; idempotent, called at each syncPod. */
  update(pod: PodObject, status: RuntimePodStatus): void;
  remove(podUid: string): void;
  /** Readiness of a running container: probes' last word, or true without a probe. */
  isReady(podUid: string, container: RuntimeContainer): boolean;
  /** Has the startup probe succeeded, or is there none? */
  isStarted(podUid: string, container: RuntimeContainer): boolean;
  /** By container ID: running containers whose liveness or startup probe has failed for good. */
  failures(podUid: string): ReadonlyMap<string, 'liveness' | 'startup'>;
  onResult(listener: (result: ProbeResult) => void): Cancel;
  stop(): void;
}
