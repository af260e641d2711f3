/**
 * What the three parts of a pod's script share: the node's bookkeeping and the way a status is made.
 *
 * The last sync's waiting reasons are kept here per pod, as the kubelet's reason cache: a status tells why a container
 * waited when it was last tried.
 */
import { activeDeadline } from './active-deadline.ts';
import type { AgentContext } from '../shared/agent-context.ts';
import type { Cgroups } from './cgroups.ts';
import type { PodDirectories } from './pod-directories.ts';
import type { PodManager } from './pod-manager.ts';
import { podName, uidOf } from '../shared/pod-object.ts';
import type { PodObject, PodStatus } from '../shared/pod-object.ts';
import type { PodRuntime, ProbeManager, WaitingReason } from '../shared/pod-runtime.ts';
import { generateStatus } from '../status/generate-status.ts';
import type { StatusManager } from '../status/status-manager.ts';
import type { VolumeManager } from '../volumes/volume-manager.ts';

/** Everything that the script of a pod touches. */
export interface ScriptContext extends AgentContext {
  readonly pods: PodManager;
  readonly statuses: StatusManager;
  readonly podRuntime: PodRuntime;
  readonly probes: ProbeManager;
  readonly volumes: VolumeManager;
  readonly cgroups: Cgroups;
  readonly directories: PodDirectories;
  /** Why the network is not ready; undefined when it is. */
  readonly networkError: () => string | undefined;
  /** By pod: why containers waited at the last sync. */
  readonly reasons: Map<string, ReadonlyMap<string, WaitingReason>>;
}

const NO_REASONS: ReadonlyMap<string, WaitingReason> = new Map();

/** Stage 4c: the pod's status from what is known now. */
export function computeStatus(
  context: ScriptContext,
  pod: PodObject,
  isTerminal: boolean,
): PodStatus {
  const uid = uidOf(pod);
  const previous = context.statuses.get(uid) ?? pod.status ?? {};
  const eviction = activeDeadline(pod, previous, context.clock.nowMs());
  const status = generateStatus({
    pod,
    previous,
    runtime: context.podRuntime.status(uid),
    waiting: context.reasons.get(uid) ?? NO_REASONS,
    probes: context.probes,
    isTerminal,
    hostIp: context.hostIp,
    ...(eviction === undefined ? {} : { eviction }),
  });
  context.log.debug('generated status', {
    pod: podName(pod),
    phase: status.phase,
    terminal: isTerminal,
  });
  return status;
}
