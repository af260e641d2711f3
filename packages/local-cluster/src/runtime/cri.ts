/**
 * The container runtime as the node agent sees it: the verbs of the CRI, with the names that its users know, and what a
 * kernel and a network would answer to probes and signals.
 *
 * One runtime per machine. Verbs resolve when the runtime has done its part and reject with RuntimeError, as a gRPC
 * call would. Only the verbs and fields that the node agent uses exist. Times are milliseconds of the wall clock.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';

/** A refusal of the runtime; `code` is what the agent acts upon. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly code:
    | 'NotFound'
    | 'ImagePull'
    | 'ImageNeverPull'
    | 'Sandbox'
    | 'Network'
    | 'Create'
    | 'Start'
    | 'Unavailable';

  constructor(code: RuntimeError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** What a pod sandbox is made from. */
export interface SandboxConfig {
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly attempt: number;
  readonly isHostNetwork: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly cgroupParent: string;
}

/** A pod sandbox. `podIp` is there once CNI has set up the network (the node's own for hostNetwork). */
export interface Sandbox {
  readonly id: string;
  readonly config: SandboxConfig;
  readonly state: 'ready' | 'notReady';
  readonly createdAtMs: number;
  readonly podIp?: string;
  /** What the runtime could not make sense of in the pod's annotations; the agent tells the pod's owner. */
  readonly warnings?: readonly string[];
}

/** What a container is made from. */
export interface ContainerConfig {
  readonly name: string;
  readonly attempt: number;
  readonly image: string;
  /** Text that changes when the container's spec does. */
  readonly specHash: string;
  /** The pod waits for its end: an init container that is no sidecar. */
  readonly isAwaited: boolean;
}

/** A container and how it fares. */
export interface RuntimeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly podUid: string;
  readonly config: ContainerConfig;
  readonly state: 'created' | 'running' | 'exited';
  readonly imageId: string;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly finishedAtMs?: number;
  readonly exitCode?: number;
  /** `Completed`, `Error`, `OOMKilled`. */
  readonly reason?: string;
  /** As of a sandbox, about the container's image name. */
  readonly warnings?: readonly string[];
}

/** What to pull, and for whom: a simulation may ask for trouble for one container. */
export interface PullRequest {
  readonly image: string;
  readonly podUid: string;
  readonly containerName: string;
}

/** What came of a pull. */
export interface PulledImage {
  readonly imageId: string;
  readonly sizeBytes: number;
  /** How long the transfer took; a pull that joins another one's waits less. */
  readonly pullMs: number;
}

/** What kind of probe is asked of a container. */
export type ProbeKind = 'startup' | 'liveness' | 'readiness';

/** A container has started or ended: a reason to look (CRI GetContainerEvents). */
export interface RuntimeEvent {
  readonly podUid: string;
  readonly type: 'started' | 'stopped';
  readonly id: string;
}

/** The runtime of one machine. */
export interface ContainerRuntime {
  /** Which boot of the machine this is, as the kernel tells it: another after each. */
  readonly bootId: string;
  /** CRI Status: can it run containers, and is a network configured? */
  status(): { readonly isRuntimeReady: boolean; readonly isNetworkReady: boolean };
  /** CRI RunPodSandbox: pause image, create, start, network through CNI. */
  runPodSandbox(config: SandboxConfig): Promise<Sandbox>;
  /** CRI StopPodSandbox: its containers end, its network goes. Idempotent. */
  stopPodSandbox(id: string): Promise<void>;
  /** CRI RemovePodSandbox. Idempotent. */
  removePodSandbox(id: string): Promise<void>;
  listPodSandboxes(podUid?: string): readonly Sandbox[];
  createContainer(sandboxId: string, config: ContainerConfig): Promise<RuntimeContainer>;
  startContainer(id: string): Promise<void>;
  /** CRI StopContainer: SIGTERM, then SIGKILL after the grace; resolves when it has ended. Idempotent. */
  stopContainer(id: string, graceSeconds: number): Promise<void>;
  removeContainer(id: string): Promise<void>;
  listContainers(podUid?: string): readonly RuntimeContainer[];
  /** CRI PullImage; rejects with code ImagePull. */
  pullImage(request: PullRequest): Promise<PulledImage>;
  hasImage(image: string): boolean;
  /** A probe or lifecycle hook of whatever kind, answered by the container: exec, HTTP, TCP or gRPC alike. */
  probe(input: {
    readonly containerId: string;
    readonly kind: ProbeKind | 'postStart' | 'preStop';
    readonly timeoutSeconds: number;
  }): Promise<'success' | 'failure' | 'timeout'>;
  /** `status()` answers differently from now on, e.g. a network was configured; `listener` must not throw. */
  onStatusChange(listener: () => void): Cancel;
  /** Events of containers; `listener` must not throw. */
  onEvent(listener: (event: RuntimeEvent) => void): Cancel;
  /** Power off: everything ends at once, nothing is reported. */
  powerOff(): void;
}
