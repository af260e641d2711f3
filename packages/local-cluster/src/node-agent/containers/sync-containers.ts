/**
 * SyncPod of the container runtime manager: computes what must be killed and started, and does it as far as it goes now.
 *
 *     kill what must go -> create the sandbox (CNI, pod IP) -> init containers -> ordinary containers
 *
 * A failure ends the step it is in: no sandbox, nothing starts; an init container that does not start, nothing after
 * it does; an ordinary container that does not start holds up no other. Stops between steps when the signal aborts.
 */
import { isSidecar, podName } from '../shared/pod-object.ts';
import type {
  PodRuntime,
  PodSyncResult,
  RuntimePodStatus,
  WaitingReason,
} from '../shared/pod-runtime.ts';
import { computeActions } from './compute-actions.ts';
import type { PodActions } from './compute-actions.ts';
import { asRuntimeError, initContainersOf } from './container-spec.ts';
import type { ContainerContext } from './container-spec.ts';
import { killContainer, killPod } from './kill-pod.ts';
import { createSandbox } from './sandbox.ts';
import { startContainer } from './start-container.ts';
import type { PodBackOffs, StartOutcome } from './start-container.ts';

type SyncInput = Parameters<PodRuntime['syncPod']>[0];

/** Makes what drives the runtime for the pods of one node agent; it remembers the back-off of their failures alone. */
export function createPodRuntime(context: ContainerContext): PodRuntime {
  const { runtime, log } = context;
  const backOffs = new Map<string, PodBackOffs>();
  const status = (podUid: string): RuntimePodStatus => ({
    podUid,
    sandboxes: runtime.listPodSandboxes(podUid),
    containers: runtime.listContainers(podUid),
  });
  return {
    status,
    syncPod: (input) => {
      const { uid } = input.pod.metadata;
      const known = backOffs.get(uid) ?? { crashes: new Map(), pulls: new Map() };
      backOffs.set(uid, known);
      return syncContainers(context, { ...input, backOffs: known, lookUp: () => status(uid) });
    },
    killPod: async ({ pod, graceSeconds }) => {
      log.debug('kill pod', { pod: podName(pod), graceSeconds });
      await killPod(context, { pod, graceSeconds });
    },
    removePod: async (podUid) => {
      for (const { id } of runtime.listContainers(podUid)) await runtime.removeContainer(id);
      for (const { id } of runtime.listPodSandboxes(podUid)) await runtime.removePodSandbox(id);
    },
    forget: (podUid) => {
      backOffs.delete(podUid);
    },
    onEvent: (listener) => runtime.onEvent(listener),
  };
}

interface Sync extends SyncInput {
  readonly backOffs: PodBackOffs;
  /** What the runtime holds of the pod now. */
  readonly lookUp: () => RuntimePodStatus;
}

/** A PodSyncResult in the making. */
interface Result {
  readonly waiting: Map<string, WaitingReason>;
  readonly failures: { readonly action: string; readonly message: string }[];
  readonly retriesMs: number[];
}

async function syncContainers(context: ContainerContext, sync: Sync): Promise<PodSyncResult> {
  const { pod } = sync;
  const actions = computeActions({ ...sync, status: sync.lookUp() });
  const starting = [...actions.initToStart, ...actions.toStart].map(({ name }) => name);
  context.log.debug('pod actions', {
    pod: podName(pod),
    killPod: actions.killPod,
    createSandbox: actions.createSandbox,
    toKill: actions.toKill.length,
    toStart: starting.join(','),
  });
  const result: Result = { waiting: new Map(), failures: [], retriesMs: [] };
  try {
    await killUnneeded(context, sync, actions);
    const sandboxId = await sandboxFor(context, { sync, actions, result });
    if (sandboxId !== undefined) {
      await startContainers(context, { sync, actions, result, sandboxId });
    }
  } catch (cause) {
    result.failures.push({ action: 'SyncPod', message: asRuntimeError(cause).message });
  }
  const { waiting, failures, retriesMs } = result;
  if (retriesMs.length === 0) return { waiting, failures };
  return { waiting, failures, retryAfterMs: Math.max(1, Math.ceil(Math.min(...retriesMs))) };
}

async function killUnneeded(
  context: ContainerContext,
  { pod, lookUp }: Sync,
  actions: PodActions,
): Promise<void> {
  const { record, runtime } = context;
  const graceSeconds =
    pod.metadata.deletionGracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  for (const order of actions.toKill) await killContainer(context, { pod, ...order, graceSeconds });
  if (!actions.killPod || lookUp().sandboxes.length === 0) return;
  if (actions.createSandbox) {
    const message = 'Pod sandbox changed, it will be killed and re-created.';
    record({ about: pod, type: 'Normal', reason: 'SandboxChanged', message });
  }
  await killPod(context, { pod, graceSeconds });
  if (!actions.createSandbox) return;
  // A new sandbox starts from the beginning: what init containers did in the old one is gone.
  const inits = new Set(initContainersOf(pod).map(({ name }) => name));
  for (const { id, config } of lookUp().containers) {
    if (inits.has(config.name)) await runtime.removeContainer(id);
  }
}

interface Step {
  readonly sync: Sync;
  readonly actions: PodActions;
  readonly result: Result;
}

/** The sandbox to start containers in; undefined when there is none. */
async function sandboxFor(
  context: ContainerContext,
  { sync, actions, result }: Step,
): Promise<string | undefined> {
  if (!actions.createSandbox) return sync.lookUp().sandboxes[0]?.id;
  const outcome = await createSandbox(context, { ...sync, attempt: actions.attempt });
  if (outcome.kind === 'created') return outcome.sandboxId;
  const { message } = outcome;
  if (message !== undefined) result.failures.push({ action: 'CreatePodSandbox', message });
  return undefined;
}

async function startContainers(
  context: ContainerContext,
  { sync, actions, result, sandboxId }: Step & { readonly sandboxId: string },
): Promise<void> {
  const { pod, backOffs, signal } = sync;
  for (const spec of [...actions.initToStart, ...actions.toStart]) {
    const configError = sync.configErrors.get(spec.name);
    const input = { pod, spec, status: sync.lookUp(), sandboxId, backOffs, configError, signal };
    const outcome = await startContainer(context, input);
    note(result, spec.name, outcome);
    const isInit = actions.initToStart.includes(spec);
    if (outcome.kind !== 'started' && isInit && !isSidecar(spec)) return;
  }
}

/** A container in back-off waits without being a failure, as in the kubelet; the earliest end of a back-off counts. */
function note({ waiting, failures, retriesMs }: Result, name: string, outcome: StartOutcome): void {
  if (outcome.kind !== 'waits') return;
  waiting.set(name, outcome.waiting);
  if (outcome.retryAfterMs !== undefined) retriesMs.push(outcome.retryAfterMs);
  if (outcome.isBackOff) return;
  const { reason, message = '' } = outcome.waiting;
  const text = `failed to "StartContainer" for "${name}" with ${reason}: ${JSON.stringify(message)}`;
  failures.push({ action: 'StartContainer', message: text });
}
