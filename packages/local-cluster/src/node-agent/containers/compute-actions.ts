/**
 * What must be killed and started for a pod to be as its spec says: the kubelet's computePodActions (spec
 * node-agent 5).
 *
 * Pure. Invariants: no name is started twice, nor while an instance of it runs that is not killed first; no ordinary
 * container is started before every init container is done (a sidecar: started); nothing is started in a sandbox that
 * is not ready. Differs from Kubernetes: no ephemeral containers, no in-place resize, no restart rules by exit code.
 */
import { shouldBeStarted, shouldRestartAfterExit } from '../status/restart-rules.ts';
import type { RuntimeContainer, Sandbox } from '../../runtime/cri.ts';
import { computeInitActions } from './compute-init-actions.ts';
import { containersOf, initContainersOf, specHashOf } from './shared/container-spec.ts';
import type { RunnableContainer } from './shared/container-spec.ts';
import { latestContainer } from './shared/pod-actions.ts';
import type { ActionInput, KillOrder, PodActions } from './shared/pod-actions.ts';

/** Computes the actions for one pod. */
export function computeActions(input: ActionInput): PodActions {
  const sandbox = input.status.sandboxes[0];
  const isChanged = sandbox === undefined || isSandboxChanged(input, sandbox);
  if (isChanged) return actionsForNewSandbox(input, sandbox);
  const base = { createSandbox: false, sandboxId: sandbox.id, attempt: sandbox.config.attempt };
  const init = computeInitActions(input);
  if (init.isFailed) {
    return { ...base, killPod: true, toKill: [], initToStart: [], toStart: [] };
  }
  if (!init.isInitialized) {
    return { ...base, killPod: false, toKill: init.toKill, initToStart: init.toStart, toStart: [] };
  }
  const ordinary = ordinaryActions(input);
  if (ordinary.keptCount === 0 && ordinary.toStart.length === 0) {
    // Everything has ended for good: sidecars must not keep the pod alive.
    return { ...base, killPod: true, toKill: [], initToStart: [], toStart: [] };
  }
  return {
    ...base,
    killPod: false,
    toKill: [...init.toKill, ...ordinary.toKill],
    initToStart: init.toStart,
    toStart: ordinary.toStart,
  };
}

function isSandboxChanged({ pod, status }: ActionInput, newest: Sandbox): boolean {
  const readyCount = status.sandboxes.filter(({ state }) => state === 'ready').length;
  if (readyCount !== 1 || newest.state !== 'ready') return true;
  const isHostNetwork = pod.spec.hostNetwork === true;
  if (newest.config.isHostNetwork !== isHostNetwork) return true;
  return !isHostNetwork && newest.podIp === undefined;
}

function actionsForNewSandbox(input: ActionInput, replaced: Sandbox | undefined): PodActions {
  const { pod, status } = input;
  const base = {
    killPod: true,
    attempt: replaced === undefined ? 0 : replaced.config.attempt + 1,
    ...(replaced === undefined ? {} : { sandboxId: replaced.id }),
    toKill: [],
  };
  const nothing = { ...base, createSandbox: false, initToStart: [], toStart: [] };
  const hasRun = replaced !== undefined && status.containers.length > 0;
  if (pod.spec.restartPolicy === 'Never' && hasRun) return nothing;
  const toStart = containersOf(pod).filter((container) => !hasSucceededOnce(input, container));
  if (toStart.length === 0) return nothing;
  const [firstInit] = initContainersOf(pod);
  return firstInit === undefined
    ? { ...base, createSandbox: true, initToStart: [], toStart }
    : { ...base, createSandbox: true, initToStart: [firstInit], toStart: [] };
}

function hasSucceededOnce({ pod, status }: ActionInput, container: RunnableContainer): boolean {
  const latest = latestContainer(status, container.name);
  if (latest?.state !== 'exited') return false;
  return !shouldRestartAfterExit(container, pod.spec, latest.exitCode ?? 0);
}

interface OrdinaryActions {
  readonly toKill: readonly KillOrder[];
  readonly toStart: readonly RunnableContainer[];
  readonly keptCount: number;
}

function ordinaryActions(input: ActionInput): OrdinaryActions {
  const { pod, status } = input;
  const toKill: KillOrder[] = [];
  const toStart: RunnableContainer[] = [];
  let keptCount = 0;
  for (const spec of containersOf(pod)) {
    const latest = latestContainer(status, spec.name);
    if (latest?.state !== 'running') {
      if (shouldBeStarted(spec, pod, latest)) toStart.push(spec);
      continue;
    }
    const reason = reasonToKill(input, { spec, latest });
    if (reason === undefined) {
      keptCount += 1;
      continue;
    }
    const isRestarted =
      reason.cause === 'changed' || (spec.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';
    if (isRestarted) toStart.push(spec);
    toKill.push({
      container: latest,
      spec,
      cause: reason.cause,
      message: isRestarted ? `${reason.message}, will be restarted` : reason.message,
    });
  }
  return { toKill, toStart, keptCount };
}

function reasonToKill(
  { failedProbes }: ActionInput,
  { spec, latest }: { readonly spec: RunnableContainer; readonly latest: RuntimeContainer },
): Pick<KillOrder, 'message' | 'cause'> | undefined {
  if (latest.config.specHash !== specHashOf(spec)) {
    return { cause: 'changed', message: `Container ${spec.name} definition changed` };
  }
  const cause = failedProbes.get(latest.id);
  if (cause === undefined) return undefined;
  return { cause, message: `Container ${spec.name} failed ${cause} probe` };
}
