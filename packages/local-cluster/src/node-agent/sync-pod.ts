/**
 * The script for one pod, from status to the runtime's SyncPod, in this order: status → status manager, network, cgroup,
 * volumes, pull secrets, environment, runtime; and its end: stop the containers, then give back what the pod held.
 *
 * Each stage either lets the next one run or says when to come back. The pod's worker calls, one call at a time. The final
 * DELETE is the status manager's, after the last status has been written.
 */
import { formatTime } from '../objects/timestamps.ts';
import type { PodSyncer, PodWork, SyncOutcome } from './pod-workers.ts';
import type { AgentContext } from './shared/agent-context.ts';
import { findConfigErrors } from './shared/config-references.ts';
import { isTerminalPhase, podName, uidOf } from './shared/pod-object.ts';
import type { PodObject, PodStatus } from './shared/pod-object.ts';
import { podRequests, qosClassOf } from './shared/pod-resources.ts';
import type {
  PodRuntime,
  PodSyncResult,
  ProbeManager,
  RuntimePodStatus,
  WaitingReason,
} from './shared/pod-runtime.ts';
import { generateStatus } from './status/generate-status.ts';
import type { StatusManager } from './status/status-manager.ts';
import type { VolumeManager } from './volume-manager.ts';

/** Everything that the script of a pod touches. */
export interface ScriptContext extends AgentContext {
  /** The pods that should be on this node, by UID. */
  readonly pods: Map<string, PodObject>;
  readonly statuses: StatusManager;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
  readonly volumes: VolumeManager;
  /** Why the network is not ready; undefined when it is. */
  readonly networkError: () => string | undefined;
  /** By pod: why containers waited at the last sync (the kubelet's reason cache). */
  readonly reasons: Map<string, ReadonlyMap<string, WaitingReason>>;
}

/** How soon a pod is tried again that waits for the network (kubelet: backOffOnTransientErrorPeriod). */
const NETWORK_RETRY_MS = 1000;
/** How soon a new reason for waiting is shown: at the next look of the kubelet's generator. */
const RELIST_MS = 1000;
const SHARES_PER_CPU = 1024n;
const NANOS = 1_000_000_000n;
const NO_REASONS: ReadonlyMap<string, WaitingReason> = new Map();
const NO_ERRORS: ReadonlyMap<string, string> = new Map();
const ENDING: SyncOutcome = { kind: 'retry', why: 'the pod is to end', afterMs: 0 };

/** The script's three parts, for the workers. */
export function createPodSyncer(context: ScriptContext): PodSyncer {
  return {
    syncPod: (work, signal) => syncPod(context, work, signal),
    syncTerminatingPod: (pod, graceSeconds) => syncTerminatingPod(context, pod, graceSeconds),
    syncTerminatedPod: (pod) => syncTerminatedPod(context, pod),
  };
}

async function syncPod(
  context: ScriptContext,
  { pod, type }: PodWork,
  signal: AbortSignal,
): Promise<SyncOutcome> {
  const { log, record, statuses, volumes } = context;
  const about = { pod: podName(pod) };
  log.debug('syncPod', { ...about, updateType: type });
  const status = computeStatus(context, pod, 'running');
  statuses.set(pod, status);
  if (isTerminalPhase(status.phase)) return { kind: 'terminal' };

  const networkError = context.networkError();
  if (networkError !== undefined && pod.spec.hostNetwork !== true) {
    const message = `network is not ready: ${networkError}`;
    record({ about: pod, type: 'Warning', reason: 'NetworkNotReady', message });
    return { kind: 'retry', why: 'network is not ready', afterMs: NETWORK_RETRY_MS };
  }
  const cgroupParent = cgroupOf(context, pod);

  log.debug('waiting for volumes', about);
  const mounts = await volumes.mount(pod, signal);
  if (signal.aborted) return ENDING;
  if (mounts.kind === 'failed') {
    return { kind: 'retry', why: mounts.message, afterMs: mounts.retryAfterMs };
  }
  log.debug('volumes mounted', about);

  await readPullSecrets(context, pod);
  return await syncRuntime(context, { pod, cgroupParent, signal });
}

/** The status of the pod from what is known now; `stopped`: its containers are, for good. */
function computeStatus(
  context: ScriptContext,
  pod: PodObject,
  containers: 'running' | 'stopped',
): PodStatus {
  const uid = uidOf(pod);
  const status = generateStatus({
    pod,
    previous: context.statuses.get(uid) ?? pod.status ?? {},
    runtime: context.podRuntime.status(uid),
    waiting: context.reasons.get(uid) ?? NO_REASONS,
    probes: context.probes,
    isTerminal: containers === 'stopped',
    hostIp: context.hostIp,
    nowText: formatTime(context.clock.nowMs()),
  });
  context.log.debug('generated status', { pod: podName(pod), phase: status.phase });
  return status;
}

/** kubepods, below it one level per QoS class, below that one per pod. Nothing is limited: a name, and a log line. */
function cgroupOf({ log }: ScriptContext, pod: PodObject): string {
  const qosClass = pod.status?.qosClass ?? qosClassOf(pod.spec);
  const level = qosClass === 'Guaranteed' ? '' : `${qosClass.toLowerCase()}/`;
  const cgroup = `/kubepods/${level}pod${uidOf(pod)}`;
  const cpu = podRequests(pod.spec).get('cpu') ?? 0n;
  const cpuShares = Math.max(2, Number((cpu * SHARES_PER_CPU) / NANOS));
  log.debug('cgroup', { pod: podName(pod), cgroup, cpuShares });
  return cgroup;
}

/** A missing pull secret is a warning, not an obstacle: the image may well be pulled without. */
async function readPullSecrets({ client, record }: ScriptContext, pod: PodObject): Promise<void> {
  const missing: string[] = [];
  const namespace = pod.metadata.namespace ?? 'default';
  for (const { name } of pod.spec.imagePullSecrets ?? []) {
    const outcome = await client.get({ resource: 'secrets', namespace, name });
    if (outcome.kind === 'refused') missing.push(name);
  }
  if (missing.length === 0) return;
  const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
  record({ about: pod, type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message });
}

async function syncRuntime(
  context: ScriptContext,
  input: { readonly pod: PodObject; readonly cgroupParent: string; readonly signal: AbortSignal },
): Promise<SyncOutcome> {
  const { client, log, podRuntime, probes } = context;
  const { pod, cgroupParent, signal } = input;
  const uid = uidOf(pod);
  const before = podRuntime.status(uid);
  const isComplete = areAllRunning(pod, before);
  const configErrors = isComplete ? NO_ERRORS : await findConfigErrors(client, pod);
  if (signal.aborted) return ENDING;
  probes.update(pod, before);
  log.debug('runtime sync', { pod: podName(pod) });
  const running = before.containers.filter(({ state }) => state === 'running');
  const result = await podRuntime.syncPod({
    pod,
    cgroupParent,
    configErrors,
    startedProbe: new Map(running.map((each) => [each.config.name, probes.isStarted(uid, each)])),
    failedProbes: probes.failures(uid),
    signal,
  });
  probes.update(pod, podRuntime.status(uid));
  return outcomeOf(context, pod, result);
}

function areAllRunning(pod: PodObject, { containers }: RuntimePodStatus): boolean {
  return pod.spec.containers.every(({ name }) =>
    containers.some(({ config, state }) => config.name === name && state === 'running'),
  );
}

function outcomeOf(context: ScriptContext, pod: PodObject, result: PodSyncResult): SyncOutcome {
  const uid = uidOf(pod);
  const known = context.reasons.get(uid);
  const hasNewReasons = [...result.waiting].some(
    ([name, { reason }]) => known?.get(name)?.reason !== reason,
  );
  context.reasons.set(uid, result.waiting);
  const [failure] = result.failures;
  const dueMs = [
    ...(hasNewReasons ? [RELIST_MS] : []),
    ...(result.retryAfterMs === undefined ? [] : [result.retryAfterMs]),
  ];
  if (failure === undefined && dueMs.length === 0) return { kind: 'synced' };
  const why = failure === undefined ? 'in back-off' : `${failure.action}: ${failure.message}`;
  return { kind: 'retry', why, ...(dueMs.length === 0 ? {} : { afterMs: Math.min(...dueMs) }) };
}

/** Stops everything that runs of the pod: pre-stop hook, SIGTERM, grace period, SIGKILL. Rejects when it must be tried again. */
async function syncTerminatingPod(
  context: ScriptContext,
  pod: PodObject,
  graceSeconds: number,
): Promise<void> {
  const { log, podRuntime, probes, record, statuses } = context;
  log.debug('terminating pod', { pod: podName(pod), graceSeconds });
  statuses.set(pod, computeStatus(context, pod, 'running'));
  try {
    await podRuntime.killPod({ pod, graceSeconds });
  } catch (cause) {
    const message = `error killing pod: ${cause instanceof Error ? cause.message : String(cause)}`;
    record({ about: pod, type: 'Warning', reason: 'FailedKillPod', message });
    throw cause;
  }
  probes.remove(uidOf(pod));
  statuses.set(pod, computeStatus(context, pod, 'stopped'));
}

/** Unmounts volumes and removes what is left in the runtime of a deleted pod; then the status is final. */
async function syncTerminatedPod(context: ScriptContext, pod: PodObject): Promise<void> {
  const uid = uidOf(pod);
  context.statuses.set(pod, computeStatus(context, pod, 'stopped'));
  context.volumes.unmount(uid);
  // Ended containers of a pod that is not deleted stay, as `kubectl` shows them.
  if (pod.metadata.deletionTimestamp !== undefined || !context.pods.has(uid)) {
    await context.podRuntime.removePod(uid);
  }
  context.reasons.delete(uid);
  context.statuses.terminate(pod);
  context.log.debug('pod terminated', { pod: podName(pod) });
}
