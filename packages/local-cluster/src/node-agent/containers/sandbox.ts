/**
 * The pod sandbox: created through the CRI, its network through CNI, so that the pod has its IP before any container.
 *
 * A sandbox that cannot be made is told as FailedCreatePodSandBox and made at a later sync.
 */
import type { Sandbox } from '../../runtime/cri.ts';
import { podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import { asRuntimeError } from './container-spec.ts';
import type { ContainerContext } from './container-spec.ts';

/** What a sandbox is made from. */
export interface SandboxInput {
  readonly pod: PodObject;
  readonly attempt: number;
  readonly cgroupParent: string;
  readonly signal: AbortSignal;
}

/** Rejected: why; undefined when the pod is to end meanwhile, as it may well lose its sandbox then. */
export type SandboxOutcome =
  | { readonly kind: 'created'; readonly sandboxId: string }
  | { readonly kind: 'failed'; readonly message?: string };

/** Creates it, and removes dead ones of which no container is kept for lastState. */
export async function createSandbox(
  context: ContainerContext,
  input: SandboxInput,
): Promise<SandboxOutcome> {
  const { runtime, record, log } = context;
  const { pod, attempt, cgroupParent, signal } = input;
  const { metadata, spec } = pod;
  if (signal.aborted) return { kind: 'failed' };
  try {
    const sandbox = await runtime.runPodSandbox({
      podUid: metadata.uid,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      attempt,
      isHostNetwork: spec.hostNetwork === true,
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
      cgroupParent,
    });
    welcome(context, pod, sandbox);
    const inUse = new Set(runtime.listContainers(metadata.uid).map(({ sandboxId }) => sandboxId));
    for (const { id } of runtime.listPodSandboxes(metadata.uid)) {
      if (id !== sandbox.id && !inUse.has(id)) await runtime.removePodSandbox(id);
    }
    return { kind: 'created', sandboxId: sandbox.id };
  } catch (cause) {
    const error = asRuntimeError(cause);
    if (isAborted(signal)) return { kind: 'failed' };
    if (error.code === 'Network') log.debug('CNI', { pod: podName(pod), error: error.message });
    const message = `Failed to create pod sandbox: ${error.message}`;
    record({ about: pod, type: 'Warning', reason: 'FailedCreatePodSandBox', message });
    return { kind: 'failed', message };
  }
}

/** Asked anew after each wait; a bare read would be taken for what it was before. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}

function welcome({ log, record }: ContainerContext, pod: PodObject, sandbox: Sandbox): void {
  const name = podName(pod);
  const { attempt, isHostNetwork } = sandbox.config;
  log.debug('sandbox created', { pod: name, sandboxId: sandbox.id, attempt });
  log.debug('CNI', { pod: name, networks: isHostNetwork ? 'host' : 'loopback,cluster' });
  log.debug('pod IP', { pod: name, podIp: sandbox.podIp });
  for (const message of sandbox.warnings ?? []) {
    record({ about: pod, type: 'Warning', reason: 'InvalidSimulation', message });
  }
}
