/**
 * SyncPod of the container runtime manager (spec node-agent 5): computes what must be killed and started, and does it
 * as far as it goes now.
 *
 *     kill what must go -> create the sandbox (CNI, pod IP) -> init containers -> ordinary containers
 *
 * A failure ends the step it is in: no sandbox, nothing starts; an init container that does not start, nothing after
 * it does; an ordinary container that does not start holds up no other. Stops between steps when the signal aborts.
 */
import { isSidecar, podName } from '../shared/pod-object.ts';
import type { PodObject } from '../shared/pod-object.ts';
import type { PodRuntime, PodSyncResult, RuntimePodStatus } from '../shared/pod-runtime.ts';
import type { Sandbox } from '../../runtime/cri.ts';
import { computeActions } from './compute-actions.ts';
import type { ContainerContext } from './shared/container-context.ts';
import { asPod, describePod, initContainersOf } from './shared/container-spec.ts';
import type { RunnableContainer } from './shared/container-spec.ts';
import { killContainer } from './lifecycle/kill-container.ts';
import type { PodKiller } from './lifecycle/kill-pod.ts';
import type { KillOrder, PodActions } from './shared/pod-actions.ts';
import { asRuntimeError } from './shared/runtime-words.ts';
import { startContainer } from './lifecycle/start-container.ts';
import type { PodBackOffs } from './lifecycle/start-container.ts';
import { createSyncResult } from './sync-result.ts';
import type { SyncResultBuilder } from './sync-result.ts';

type SyncInput = Parameters<PodRuntime['syncPod']>[0];

/** What one sync works with. */
export interface SyncContext extends ContainerContext {
  readonly killer: PodKiller;
  readonly backOffs: PodBackOffs;
  /** What the runtime holds of the pod now. */
  readonly lookUp: () => RuntimePodStatus;
}

/** One sync of one pod. */
export async function syncPodContainers(
  context: SyncContext,
  input: SyncInput,
): Promise<PodSyncResult> {
  const pod = asPod(input.pod);
  const result = createSyncResult();
  const actions = computeActions({
    pod,
    status: context.lookUp(),
    startedProbe: input.startedProbe,
    failedProbes: input.failedProbes,
  });
  logActions(context, pod, actions);
  try {
    await killUnneeded(context, { pod, actions, signal: input.signal });
    const sandboxId = actions.createSandbox
      ? (await createSandbox(context, { pod, actions, input, result }))?.id
      : actions.sandboxId;
    if (sandboxId !== undefined) {
      await startContainers(context, { pod, actions, input, result, sandboxId });
    }
  } catch (cause) {
    const error = asRuntimeError(cause);
    result.fail('SyncPod', error.message);
  }
  return result.build();
}

function logActions({ log }: SyncContext, pod: PodObject, actions: PodActions): void {
  log.debug('pod actions', {
    pod: podName(pod),
    killPod: actions.killPod,
    createSandbox: actions.createSandbox,
    toKill: actions.toKill.length,
    toStart: namesOf([...actions.initToStart, ...actions.toStart]),
  });
}

function namesOf(containers: readonly RunnableContainer[]): string {
  return containers.map(({ name }) => name).join(',');
}

interface Step {
  readonly pod: PodObject;
  readonly actions: PodActions;
  readonly input: SyncInput;
  readonly result: SyncResultBuilder;
}

async function killUnneeded(
  context: SyncContext,
  { pod, actions, signal }: Pick<Step, 'pod' | 'actions'> & { readonly signal: AbortSignal },
): Promise<void> {
  if (!actions.killPod) {
    for (const order of actions.toKill) await killOne(context, { pod, order, signal });
    return;
  }
  if (actions.createSandbox && actions.sandboxId !== undefined) {
    context.record({
      about: pod,
      type: 'Normal',
      reason: 'SandboxChanged',
      message: 'Pod sandbox changed, it will be killed and re-created.',
    });
  }
  if (context.lookUp().sandboxes.length === 0) return;
  await context.killer.kill({ pod, graceSeconds: graceSecondsOf(pod) });
  if (actions.createSandbox) await purgeInitContainers(context, pod);
}

async function killOne(
  context: SyncContext,
  input: { readonly pod: PodObject; readonly order: KillOrder; readonly signal: AbortSignal },
): Promise<void> {
  const { pod, order, signal } = input;
  const { spec, cause } = order;
  const probe = cause === 'liveness' ? spec.livenessProbe : spec.startupProbe;
  const probeGraceSeconds = cause === 'changed' ? undefined : probe?.terminationGracePeriodSeconds;
  await killContainer(context, {
    pod,
    container: order.container,
    message: order.message,
    graceSeconds: probeGraceSeconds ?? graceSecondsOf(pod),
    signal,
  });
}

function graceSecondsOf(pod: PodObject): number {
  return pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
}

/** A new sandbox starts from the beginning: what init containers did in the old one is gone. */
async function purgeInitContainers(context: SyncContext, pod: PodObject): Promise<void> {
  const names = new Set(initContainersOf(pod).map(({ name }) => name));
  for (const { id, config } of context.lookUp().containers) {
    if (names.has(config.name)) await context.runtime.removeContainer(id);
  }
}

async function createSandbox(context: SyncContext, step: Step): Promise<Sandbox | undefined> {
  const { pod, actions, input, result } = step;
  if (input.signal.aborted) return undefined;
  const { metadata, spec } = pod;
  try {
    const sandbox = await context.runtime.runPodSandbox({
      podUid: metadata.uid,
      namespace: metadata.namespace ?? '',
      name: metadata.name,
      attempt: actions.attempt,
      isHostNetwork: spec.hostNetwork === true,
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
      cgroupParent: input.cgroupParent,
    });
    welcomeSandbox(context, pod, sandbox);
    await removeOldSandboxes(context, sandbox);
    return sandbox;
  } catch (cause) {
    const error = asRuntimeError(cause);
    // A pod that is to end meanwhile may well lose its sandbox: that is no news.
    if (input.signal.aborted) return undefined;
    if (error.code === 'Network') {
      context.log.debug('CNI', { pod: podName(pod), error: error.message });
    }
    context.record({
      about: pod,
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message: `Failed to create pod sandbox: ${error.message}`,
    });
    const text = `Failed to create sandbox for pod "${describePod(pod)}": ${error.message}`;
    result.fail(
      'CreatePodSandbox',
      `failed to "CreatePodSandbox" for "${describePod(pod)}" with CreatePodSandboxError: ${JSON.stringify(text)}`,
    );
    return undefined;
  }
}

function welcomeSandbox({ log, record }: SyncContext, pod: PodObject, sandbox: Sandbox): void {
  const name = podName(pod);
  log.debug('sandbox created', {
    pod: name,
    sandboxId: sandbox.id,
    attempt: sandbox.config.attempt,
  });
  log.debug('CNI', {
    pod: name,
    networks: sandbox.config.isHostNetwork ? 'host' : 'loopback,cluster',
  });
  log.debug('pod IP', { pod: name, podIp: sandbox.podIp });
  for (const message of sandbox.warnings ?? []) {
    record({ about: pod, type: 'Warning', reason: 'InvalidSimulation', message });
  }
}

/** Dead sandboxes go once no container of them is kept for lastState. */
async function removeOldSandboxes(context: SyncContext, newest: Sandbox): Promise<void> {
  const { sandboxes, containers } = context.lookUp();
  const inUse = new Set(containers.map(({ sandboxId }) => sandboxId));
  for (const { id } of sandboxes) {
    if (id !== newest.id && !inUse.has(id)) await context.runtime.removePodSandbox(id);
  }
}

async function startContainers(
  context: SyncContext,
  step: Step & { readonly sandboxId: string },
): Promise<void> {
  const { pod, actions, input, result, sandboxId } = step;
  const start = async (spec: RunnableContainer): Promise<boolean> => {
    const outcome = await startContainer(context, {
      pod,
      spec,
      status: context.lookUp(),
      sandboxId,
      backOffs: context.backOffs,
      configError: input.configErrors.get(spec.name),
      signal: input.signal,
    });
    result.add(spec.name, outcome);
    return outcome.kind === 'started';
  };
  for (const spec of actions.initToStart) {
    const isStarted = await start(spec);
    if (!isStarted && !isSidecar(spec)) return;
  }
  for (const spec of actions.toStart) await start(spec);
}
