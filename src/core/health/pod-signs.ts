/**
 * Judges the evidence of one pod: well, coming up, failed for the release's or for the node's reasons,
 * or neither. How long something lasts is told by our clock where the caller says since when it is
 * seen, else by the pod's own times. A terminating pod is evidence of nothing. Restarts and exits
 * count from a baseline, never by the present word alone.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { ContainerExit, NodeProjection, PodProjection } from '../model/projections.ts';
import type { PodBaseline } from '../model/rollout-record.ts';
import { lastTurnMs } from './flapping.ts';
import { stratumOf } from './canary-spread.ts';

/** The side of a failure: `start` and `run` are the release's, `node` is the node's until its controls say otherwise. */
export type FailureClass = 'start' | 'run' | 'node';

export interface FailedPod {
  readonly kind: 'failed';
  readonly class: FailureClass;
  readonly sign: FailureSign;
  /** The raw word that told it, for people: anything that a status may hold, 256 printable characters at most. */
  readonly word: string;
  readonly container?: string;
  /** When it happened, as the kubelet told; now, for what lasts. */
  readonly atMs: number;
  /** Restarts since the baseline. */
  readonly restarts: number;
}

/** Not ready, and not for too long. */
export interface StartingPod {
  readonly kind: 'starting';
  readonly restarts: number;
  /** The reason that it waits, if it says so. */
  readonly word?: string;
  /** If nothing changes it is a failure from here on, and no event will tell: a run has to look again. */
  readonly failsAtMs: number;
}

export type PodEvidence =
  /** Ready on a node that is Ready, and nothing failed since the baseline. One restart may have been: it restarts a soak. */
  | { readonly kind: 'well'; readonly restarts: number }
  | StartingPod
  | FailedPod
  /** Not ready for a reason that is neither the release's nor the node's, or on its way out. */
  | { readonly kind: 'neither'; readonly word: string; readonly restarts: number };

/** The facts by which a pod is judged. */
export interface PodJudging {
  readonly nowMs: number;
  /** Since when it has been seen not ready, by our clock; absent: its own times count. */
  readonly seenSinceMs?: number;
  /** A pod that says nothing may come up for so long, or be not ready while it runs. */
  readonly graceMs: number;
  readonly isNodeReady: boolean;
  /** Its past at the baseline; absent: it counts from its creation. */
  readonly baseline?: PodBaseline;
  /** Without a baseline, exits that ended before this moment do not count: the pod was there before the rollout. */
  readonly sinceMs?: number;
  /** Requests and host ports of the new template against the old one. Room that is missing is the release's if they grew. */
  readonly demand: 'grew' | 'same' | 'unknown';
  /** Boot ID of its node now and when the rollout began; absent: not known, so the runtime's words decide. */
  readonly boot?: 'same' | 'changed';
}

/** The default grace: kubelet names a missing volume after two minutes, and slow images take as long again. */
export const GRACE_MS = 300_000;

/** A fault that may mend itself is tried again after 10 and after 20 s more: then it is a failure. */
export const RETRIED_AFTER_MS = 30_000;

/** Two restarts of a pod of the new revision are evidence without statistics. */
const RESTARTS_HALT = 2;

interface Exits {
  readonly restarts: number;
  /** The last exit, if it happened since the baseline. */
  readonly last: ContainerExit | undefined;
}

/** What this pod is evidence of. */
export function judgePod(pod: PodProjection, at: PodJudging): PodEvidence {
  const exits = exitsSince(pod, at);
  const { restarts } = exits;
  if (pod.isTerminating) return { kind: 'neither', word: 'Terminating', restarts };
  const disruption = pod.trouble?.disruption;
  if (disruption !== undefined && isCalledAway(disruption)) {
    return { kind: 'neither', word: disruption, restarts };
  }
  const failed = failureOf(pod, at, exits);
  if (failed !== undefined) return { kind: 'failed', restarts, ...failed };
  if (pod.isReady && !isRetried(pod)) return { kind: 'well', restarts };
  return pendingOf(pod, restarts, at);
}

/** Not ready, not failed, not too late. */
function pendingOf(pod: PodProjection, restarts: number, at: PodJudging): PodEvidence {
  const { trouble } = pod;
  const gate = gateOf(pod);
  // A fault that is tried again fails by time, whatever else is told of the pod.
  if (gate !== undefined && !isRetried(pod)) return { kind: 'neither', word: gate, restarts };
  const canBeLate = !pod.isReady && gate === undefined;
  const lateAtMs = canBeLate ? lateSinceMs(pod, at) + at.graceMs : Number.POSITIVE_INFINITY;
  const retriedAtMs = isRetried(pod)
    ? retriedSinceMs(pod, at) + RETRIED_AFTER_MS
    : Number.POSITIVE_INFINITY;
  const failsAtMs = Math.min(lateAtMs, retriedAtMs);
  const word = trouble?.waiting ?? trouble?.unscheduled;
  const starting = { kind: 'starting', restarts, failsAtMs } as const;
  return word === undefined ? starting : { ...starting, word };
}

/** A container of it cannot be made, and this is tried again. */
function isRetried({ trouble }: PodProjection): boolean {
  return trouble?.waiting !== undefined && waitingMeaning(trouble.waiting) !== undefined;
}

/** A hold that is no failure. The node's readiness was asked before: a readiness gate withholds Ready. */
function gateOf({ trouble }: PodProjection): string | undefined {
  if (trouble?.unscheduled === SCHEDULING_GATED) return SCHEDULING_GATED;
  return trouble?.isReadyWithheld === true ? 'ReadinessGatesNotReady' : undefined;
}

/** Since when it is not ready. */
function lateSinceMs(
  { createdAtMs, readyChangedAtMs }: PodProjection,
  { seenSinceMs }: PodJudging,
): number {
  return seenSinceMs ?? Math.max(createdAtMs, readyChangedAtMs ?? 0);
}

/** Since when making its containers is tried. */
function retriedSinceMs({ createdAtMs }: PodProjection, { seenSinceMs }: PodJudging): number {
  return seenSinceMs ?? createdAtMs;
}

type Failure = Omit<FailedPod, 'kind' | 'restarts'>;

function failureOf(pod: PodProjection, at: PodJudging, exits: Exits): Failure | undefined {
  return (
    terminalFailure(pod, at) ??
    exitFailure(pod, at, exits) ??
    waitingFailure(pod, at) ??
    nodeFailure(pod, at) ??
    lateFailure(pod, at)
  );
}

/** A pod that will never run again: refused, evicted, shut down. */
function terminalFailure(pod: PodProjection, { nowMs, demand }: PodJudging): Failure | undefined {
  if (pod.phase === 'Succeeded') {
    return { class: 'run', sign: 'Crash', word: 'Succeeded', atMs: nowMs };
  }
  if (pod.phase !== 'Failed') return undefined;
  const word = pod.reason ?? pod.trouble?.disruption ?? 'Failed';
  if (isNoRoom(word)) {
    const isRelease = demand === 'grew';
    return { class: isRelease ? 'start' : 'node', sign: 'NodeRefused', word, atMs: nowMs };
  }
  const sign = pod.trouble?.disruption === undefined ? refusalSign(word) : 'Evicted';
  return { class: sign === 'PodRefused' ? 'start' : 'node', sign, word, atMs: nowMs };
}

/** Exits since the baseline: out of memory at the first, others at the second restart, or as a loop. */
function exitFailure(pod: PodProjection, at: PodJudging, exits: Exits): Failure | undefined {
  const { last, restarts } = exits;
  if (last === undefined) return undefined;
  const atMs = last.finishedAtMs ?? at.nowMs;
  const told = { word: wordOf(last), atMs, ...containerOf(pod) };
  if (last.reason === OUT_OF_MEMORY) return { class: 'run', sign: 'OOMKilled', ...told };
  const isLooping = pod.trouble?.waiting === CRASH_LOOP;
  if (isNodesExit(last, at, isLooping)) {
    return pod.isReady ? undefined : { class: 'node', sign: 'Rebooted', ...told };
  }
  if (!isLooping && restarts < RESTARTS_HALT) return undefined;
  if (last.reason === START_ERROR) return { class: 'start', sign: 'RuntimeRefused', ...told };
  // Once containers run, a pod stays Running while they crash: Pending means that an init container or sidecar does.
  if (pod.phase === 'Pending') return { class: 'start', sign: 'InitFailed', ...told };
  return { class: 'run', sign: 'Crash', ...told };
}

function wordOf({ reason, exitCode }: ContainerExit): string {
  return `${reason === '' ? 'exit' : reason} ${String(exitCode)}`;
}

function containerOf({ trouble }: PodProjection): { readonly container?: string } {
  return trouble?.container === undefined ? {} : { container: trouble.container };
}

/** A reboot ends every container, and restartCount may jump by as many as there are. */
function isNodesExit(last: ContainerExit, at: PodJudging, isLooping: boolean): boolean {
  if (at.boot === 'same') return false;
  return isLostExit(last) || (at.boot === 'changed' && !isLooping);
}

/** A container that cannot be made: at once if it is certain, else when it had been tried again. */
function waitingFailure(pod: PodProjection, at: PodJudging): Failure | undefined {
  const word = pod.trouble?.waiting;
  const meaning = word === undefined ? undefined : waitingMeaning(word);
  if (word === undefined || meaning === undefined) return undefined;
  const { nowMs } = at;
  if (!meaning.isCertain && nowMs - retriedSinceMs(pod, at) < RETRIED_AFTER_MS) return undefined;
  return { class: 'start', sign: meaning.sign, word, atMs: nowMs, ...containerOf(pod) };
}

/** Nothing that a pod says in silence counts while its node is not Ready: what it said before it fell silent did. */
function nodeFailure(pod: PodProjection, at: PodJudging): Failure | undefined {
  if (at.isNodeReady && pod.phase !== 'Unknown') return undefined;
  if (pod.boundNode === undefined) return undefined;
  return { class: 'node', sign: 'NodeLost', word: 'NodeNotReady', atMs: at.nowMs };
}

/** Silence that lasts: never started, or runs and is not ready. */
function lateFailure(pod: PodProjection, at: PodJudging): Failure | undefined {
  if (pod.isReady || gateOf(pod) !== undefined) return undefined;
  if (at.nowMs - lateSinceMs(pod, at) < at.graceMs) return undefined;
  const told = { atMs: at.nowMs, ...containerOf(pod) };
  const unscheduled = pod.trouble?.unscheduled;
  if (unscheduled !== undefined) {
    const isNodes = at.demand === 'same';
    return { class: isNodes ? 'node' : 'start', sign: 'Unschedulable', word: unscheduled, ...told };
  }
  if (pod.phase === 'Running') {
    return { class: 'run', sign: 'NotReady', word: 'ContainersNotReady', ...told };
  }
  return { class: 'start', sign: 'NeverStarted', word: pod.trouble?.waiting ?? 'Pending', ...told };
}

/** Restarts and the last exit since the baseline, or since the moment that counts. */
function exitsSince(pod: PodProjection, at: PodJudging): Exits {
  const restarts = pod.trouble?.restarts ?? 0;
  const last = pod.trouble?.lastExit;
  if (at.baseline !== undefined) return exitsSinceBaseline({ restarts, last }, at.baseline);
  const { sinceMs } = at;
  if (sinceMs === undefined || pod.createdAtMs >= sinceMs) return { restarts, last };
  // It was there before, and its restarts were not counted then: that it ended since is known, how often is not.
  const isSince = last?.finishedAtMs !== undefined && last.finishedAtMs >= sinceMs;
  return isSince ? { restarts: Math.min(1, restarts), last } : { restarts: 0, last: undefined };
}

/** restartCount may fall after a reboot: then there were none. */
function exitsSinceBaseline({ restarts, last }: Exits, baseline: PodBaseline): Exits {
  const since = Math.max(0, restarts - baseline.restarts);
  const isNew = since > 0 || last?.finishedAtMs !== baseline.exitAtMs;
  return { restarts: since, last: isNew ? last : undefined };
}

/** A pod, judged, on its node. */
export interface JudgedPod {
  readonly node: NodeName;
  readonly stratum: string;
  readonly evidence: PodEvidence;
  readonly createdAtMs: number;
  /** When its readiness changed long after it came up; asked of pods of the old revision. */
  readonly turnedAtMs?: number;
}

/** Judges a pod on its node. */
export function judgeOnNode(
  pod: PodProjection,
  node: NodeProjection,
  at: Omit<PodJudging, 'isNodeReady'>,
): JudgedPod {
  const turnedAtMs = lastTurnMs(pod);
  return {
    node: node.name,
    stratum: stratumOf(node),
    evidence: judgePod(pod, { ...at, isNodeReady: node.isReady }),
    createdAtMs: pod.createdAtMs,
    ...(turnedAtMs === undefined ? {} : { turnedAtMs }),
  };
}

/** As many as a record keeps: 4 KB. */
export const BASELINES_MAX = 64;

export function baselineOf({ uid, trouble }: PodProjection): PodBaseline {
  const exitAtMs = trouble?.lastExit?.finishedAtMs;
  const restarts = trouble?.restarts ?? 0;
  return exitAtMs === undefined ? { uid, restarts } : { uid, restarts, exitAtMs };
}

/** Baselines of pods of the new revision that are there before its first step. Those with most restarts are kept. */
export function baselinesOf(pods: readonly PodProjection[]): readonly PodBaseline[] {
  return pods
    .filter(({ trouble }) => trouble?.lastExit !== undefined || (trouble?.restarts ?? 0) > 0)
    .map(baselineOf)
    .sort((left, right) => right.restarts - left.restarts || compareText(left.uid, right.uid))
    .slice(0, BASELINES_MAX);
}

/** The sign of a failure. Failures with equal signs have the same reason. */
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
const CRASH_LOOP = 'CrashLoopBackOff';

/** An exit of a container whose binary or mounts the runtime could not start. */
const START_ERROR = 'StartError';

/** The kernel's end of a container that used more memory than it may. */
const OUT_OF_MEMORY = 'OOMKilled';

/** The meaning of a waiting reason; undefined for CrashLoopBackOff (exits tell it) and for unknown words. */
export function waitingMeaning(word: string): WaitingMeaning | undefined {
  return Object.hasOwn(WAITING, word) ? WAITING[word] : undefined;
}

/** The runtime lost track of the container, as after a reboot: no exit was seen. */
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

/** The meaning of a failed pod's status.reason. An unknown word is the node's: its controls tell whether it is not. */
export function refusalSign(reason: string): FailureSign {
  if (REFUSES_THE_POD.has(reason)) return 'PodRefused';
  return EVICTIONS.has(reason) ? 'Evicted' : 'NodeRefused';
}

/** Reasons of DisruptionTarget that say nothing about release or node: a client made room, tainted, drained or swept. */
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

/** A scheduling gate is a user's wish, not a failure. */
const SCHEDULING_GATED = 'SchedulingGated';
