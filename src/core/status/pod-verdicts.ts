/**
 * Finds why an existing pod is not ready, from its status and its node.
 *
 * The words of kubelet, runtime and scheduler keep the meaning that health gives them (core/health/pod-signs.ts). `matter` is
 * what pods with the same trouble have in common: it names neither pod nor node, and no time.
 */
import type { ContainerExit, NodeProjection, PodProjection } from '../model/projections.ts';
import type { NodeCode } from '../model/verdict.ts';
import { isNoRoom, waitingMeaning } from '../health/pod-signs.ts';
import { timeText } from '../rollout/gate-words.ts';
import { counted } from '@rollcall/base/counted.ts';

/** The matter with a pod: `text` ends a sentence that begins with the node. */
export interface PodFinding {
  readonly code: NodeCode;
  readonly text: string;
  readonly matter: string;
  readonly pod: string;
  readonly remedy?: string;
  /** From when on it is looked at otherwise. */
  readonly untilMs?: number;
}

/** Slow images apart, a pod runs by then; the kubelet names a missing volume after as long. */
const START_MS = 120_000;

interface Seen {
  readonly pod: PodProjection;
  readonly node: NodeProjection;
  readonly nowMs: number;
}

interface Matter {
  readonly code: NodeCode;
  /** Ends `has pod x, `. */
  readonly says: string;
  readonly matter: string;
  readonly remedy?: string;
  readonly untilMs?: number;
}

/** Its trouble; the pod is not ready. */
export function describeUnready(seen: Seen): PodFinding {
  const { name } = seen.pod;
  const found =
    ofScheduling(seen) ?? ofNode(seen) ?? ofWaiting(seen) ?? ofExits(seen) ?? ofStart(seen);
  const { says, matter, ...finding } = found;
  const text = `has pod ${name}, ${says}`;
  return { ...finding, pod: name, text, matter: `has a pod ${matter}` };
}

function ofScheduling({ pod }: Seen): Matter | undefined {
  if (pod.boundNode !== undefined || pod.phase !== 'Pending') return undefined;
  const { unscheduled, cause } = pod.trouble ?? {};
  if (unscheduled === undefined) {
    const says = 'which waits for the scheduler to bind it';
    return { code: 'Pending', says, matter: says };
  }
  if (unscheduled === 'SchedulingGated') {
    const remedy = `see who set it: ${kubectl(pod, 'get pod')} -o jsonpath={.spec.schedulingGates}`;
    const says = 'which a scheduling gate holds';
    return { code: 'SchedulingGated', says, matter: says, remedy };
  }
  const why = cause ?? unscheduled;
  const says = `which the scheduler cannot bind: ${why}`;
  return { code: 'Unschedulable', says, matter: says, ...remedyOfRoom(pod, cause) };
}

function remedyOfRoom(pod: PodProjection, cause: string | undefined): { remedy?: string } {
  if (cause === undefined) return { remedy: kubectl(pod, 'describe pod') };
  if (cause.includes('cordoned')) {
    return { remedy: `kubectl uncordon ${pod.targetNode ?? 'the node'}` };
  }
  // The table says what to do where room is missing.
  const isRoom = cause.includes('Insufficient') || cause.includes('Too many pods');
  return isRoom ? {} : { remedy: kubectl(pod, 'describe pod') };
}

function ofNode({ pod, node }: Seen): Matter | undefined {
  if (node.isReady && pod.phase !== 'Unknown') return undefined;
  const says = 'which is not ready: the node is not ready';
  return { code: 'NodeNotReady', says, matter: says, remedy: `kubectl describe node ${node.name}` };
}

const CODES: Readonly<Record<string, NodeCode>> = {
  ImagePull: 'ImagePullBackOff',
  ContainerConfig: 'CreateContainerConfigError',
  RuntimeRefused: 'CreateContainerError',
};

/** A container that waits, and not for its next start after a crash. */
function ofWaiting({ pod }: Seen): Matter | undefined {
  const { waiting, cause } = pod.trouble ?? {};
  const sign = waiting === undefined ? undefined : waitingMeaning(waiting)?.sign;
  if (waiting === undefined || sign === undefined) return undefined;
  const code = CODES[sign] ?? 'CreateContainerError';
  const why = cause === undefined ? waiting : `${waiting}, ${cause}`;
  const what = code === 'ImagePullBackOff' ? 'has no image' : 'cannot be made';
  const says = `whose ${containerOf(pod)} ${what}: ${why}`;
  const remedy = cause?.endsWith(' is missing')
    ? `create it, or repair the reference (${cause})`
    : kubectl(pod, 'describe pod');
  return { code, says, matter: says, remedy };
}

/** As many exits are no accident. */
const CRASHES_MIN = 2;

function ofExits({ pod }: Seen): Matter | undefined {
  const { waiting, lastExit, restarts = 0 } = pod.trouble ?? {};
  const isLooping = waiting === 'CrashLoopBackOff' || restarts >= CRASHES_MIN;
  if (lastExit === undefined || !isLooping) return undefined;
  const how = `whose ${containerOf(pod)} crashes: ${exitText(lastExit)}`;
  const { finishedAtMs } = lastExit;
  const at = finishedAtMs === undefined ? '' : `, last at ${timeText(finishedAtMs)}`;
  const says = `${how}, ${counted(restarts, 'restart')}${at}`;
  const { container } = pod.trouble ?? {};
  const of = container === undefined ? '' : ` -c ${container}`;
  const logs = `${kubectl(pod, 'logs')}${of} --previous`;
  const remedy = lastExit.reason === 'OOMKilled' ? `raise its memory limit; ${logs}` : logs;
  return { code: 'CrashLoopBackOff', says, matter: how, remedy };
}

function exitText({ reason, exitCode }: ContainerExit): string {
  const code = `exit code ${String(exitCode)}`;
  return reason === '' || reason === 'Error' ? code : `${code} (${reason})`;
}

/** Names no fault: it comes up, or what it lacks is unknown. */
function ofStart({ pod, nowMs }: Seen): Matter {
  const { createdAtMs, phase, readyChangedAtMs } = pod;
  const untilMs = createdAtMs + START_MS;
  if (pod.trouble?.isReadyWithheld === true) {
    const says = 'whose containers are ready, and which a readiness gate withholds';
    return { code: 'ReadinessGatesNotReady', says, matter: says, remedy: gateRemedy(pod) };
  }
  if (nowMs < untilMs) {
    const says = phase === 'Running' ? 'which runs, and is not ready yet' : 'which is starting';
    return { code: 'Pending', says, matter: says, untilMs };
  }
  if (phase === 'Pending') {
    const what = 'which has been bound, and its containers are not made';
    const says = `${what} since ${timeText(createdAtMs)}: an image that takes long, a volume, or the network`;
    const remedy = `its Events name it: ${kubectl(pod, 'describe pod')}`;
    return { code: 'ContainerCreating', says, matter: what, remedy };
  }
  const what = `whose ${containerOf(pod)} runs and is not ready`;
  const since = readyChangedAtMs === undefined ? '' : ` since ${timeText(readyChangedAtMs)}`;
  const remedy = `look at its readiness probe: ${kubectl(pod, 'describe pod')}`;
  return {
    code: 'NotReady',
    says: `${what}${since}: its readiness probe fails`,
    matter: what,
    remedy,
  };
}

function gateRemedy(pod: PodProjection): string {
  return `see which condition it asks for: ${kubectl(pod, 'get pod')} -o jsonpath={.spec.readinessGates}`;
}

function containerOf({ trouble }: PodProjection): string {
  return trouble?.container === undefined ? 'container' : `container ${trouble.container}`;
}

function kubectl({ namespace, name }: PodProjection, verb: string): string {
  return `kubectl -n ${namespace} ${verb} ${name}`;
}

export function describeFailed(
  pod: PodProjection,
  node: NodeProjection,
): Pick<PodFinding, 'matter'> & { readonly remedy: string } {
  const word = pod.reason ?? pod.trouble?.disruption ?? 'Failed';
  return {
    matter: `waits: its pod failed (${word}), and is replaced when its back-off ends`,
    remedy: remedyOfFailed(pod, { node, word }),
  };
}

function remedyOfFailed(
  pod: PodProjection,
  { node, word }: { readonly node: NodeProjection; readonly word: string },
): string {
  if (isNoRoom(word)) {
    return 'make room on the node, lower the requests, or give the DaemonSet a priority class';
  }
  // Evicted and its like are told by the node; a container that ended by its logs.
  const isOfNode = pod.reason !== undefined;
  return isOfNode ? `kubectl describe node ${node.name}` : kubectl(pod, 'describe pod');
}
