/**
 * What a kubelet writes of a pod that does not get well, step by step (rollouts facts 1): for worlds on virtual time.
 *
 * An image asks for it: `agent:2-simulate-crash-loop`. Words, back-offs and counts are those of a kubelet: pulls and starts are
 * tried after 10, 20 … 300 s; the first crash is restarted at once; a leak that takes eleven minutes never backs off. Pure.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';

/** How a pod is ill. */
export const AILMENTS = [
  'bad-image',
  'config-error',
  'start-error',
  'crash-loop',
  'slow-leak',
  'flap',
  'init-fails',
  'refused',
  'evicted',
] as const;

/** One of them. */
export type Ailment = (typeof AILMENTS)[number];

/** A status without its times, and how long it lasts; undefined: for good. */
export interface AilingStep {
  readonly phase: string;
  readonly reason?: string;
  readonly isReady: boolean;
  readonly disruption?: string;
  readonly containers: 'initContainerStatuses' | 'containerStatuses';
  readonly container?: JsonObject;
  readonly lastsMs?: number;
}

const MARK = 'simulate-';
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const LEAK_MS = 11 * MINUTE_MS;

/** What the image of a pod asks for. */
export function ailmentOf(pod: KubernetesObject): Ailment | undefined {
  const spec = pod['spec'] as { readonly containers?: readonly { readonly image?: string }[] };
  const image = spec.containers?.[0]?.image ?? '';
  const asked = image.slice(image.indexOf(MARK) + MARK.length);
  return image.includes(MARK) ? AILMENTS.find((ailment) => ailment === asked) : undefined;
}

/** Step `index` of an ailment, written at `nowMs`. */
export function ailingStep(ailment: Ailment, index: number, nowMs: number): AilingStep {
  switch (ailment) {
    case 'bad-image':
      return index % 2 === 0
        ? { ...waitingFor('ErrImagePull'), lastsMs: SECOND_MS }
        : { ...waitingFor('ImagePullBackOff'), lastsMs: backOffMs(index >> 1) };
    case 'config-error':
      return waitingFor('CreateContainerConfigError');
    case 'start-error':
      return crash({ index, nowMs, ending: { reason: 'StartError', exitCode: 128 }, livesMs: 0 });
    case 'crash-loop':
      return crash({ index, nowMs, ending: { reason: 'Error', exitCode: 1 }, livesMs: 5000 });
    case 'slow-leak':
      return leak(index, nowMs);
    case 'flap':
      return { ...PLAIN, isReady: index % 2 === 0, container: running(0), lastsMs: 10_000 };
    case 'init-fails': {
      const ending = { reason: 'Error', exitCode: 3 };
      const step = crash({ index, nowMs, ending, livesMs: SECOND_MS });
      return { ...step, phase: 'Pending', isReady: false, containers: 'initContainerStatuses' };
    }
    case 'refused':
      return { ...PLAIN, phase: 'Failed', reason: 'OutOfcpu', isReady: false };
    case 'evicted':
      if (index === 0) return { ...PLAIN, container: running(0), lastsMs: MINUTE_MS };
      return {
        ...{ ...PLAIN, phase: 'Failed', reason: 'Evicted', isReady: false },
        disruption: 'TerminationByKubelet',
      };
  }
}

/** The pod with the status of this step. A condition that stays as it is keeps its time, as kubelets keep it. */
export function withAilingStatus(
  pod: KubernetesObject,
  { phase, reason, isReady, disruption, containers, container }: AilingStep,
  at: string,
): KubernetesObject {
  const former = pod['status'] as { readonly conditions?: readonly JsonObject[] } | undefined;
  const condition = (type: string, status: string, more: JsonObject = {}): JsonObject => {
    const known = former?.conditions?.find((one) => one['type'] === type);
    const lastTransitionTime = known?.['status'] === status ? known['lastTransitionTime'] : at;
    return { type, status, lastTransitionTime: lastTransitionTime ?? at, ...more };
  };
  const ready = isReady ? 'True' : 'False';
  const disrupted =
    disruption === undefined ? [] : [condition('DisruptionTarget', 'True', { reason: disruption })];
  const status = {
    phase,
    ...(reason === undefined ? {} : { reason }),
    conditions: [condition('Ready', ready), condition('ContainersReady', ready), ...disrupted],
    ...(container === undefined ? {} : { [containers]: [container] }),
  };
  return { ...pod, status };
}

const PLAIN = { phase: 'Running', isReady: true, containers: 'containerStatuses' } as const;

function waitingFor(reason: string): AilingStep {
  const container = { name: 'main', restartCount: 0, state: { waiting: { reason } } };
  return { ...PLAIN, phase: 'Pending', isReady: false, container };
}

function running(restartCount: number, lastState: JsonObject = {}): JsonObject {
  return { name: 'main', restartCount, state: { running: {} }, lastState };
}

function backOffMs(tries: number): number {
  return Math.min(10_000 * 2 ** Math.min(tries, 10), 300_000);
}

interface Crash {
  readonly index: number;
  readonly nowMs: number;
  readonly ending: { readonly reason: string; readonly exitCode: number };
  readonly livesMs: number;
}

/** Three steps a run: it lives, it has ended, it waits for the next start, the first time not at all. */
function crash({ index, nowMs, ending, livesMs }: Crash): AilingStep {
  const run = Math.floor(index / 3);
  const part = index % 3;
  // Each step follows the one before at once: when that run ended is known from how long its wait lasts.
  const waitMs = run === 0 ? 0 : backOffMs(run - 1);
  const previousWaitMs = run <= 1 ? 0 : backOffMs(run - 2);
  const endedAt = (atMs: number): JsonObject => ({
    terminated: { ...ending, finishedAt: new Date(atMs).toISOString() },
  });
  const lastState = run === 0 ? {} : endedAt(nowMs - previousWaitMs - SECOND_MS);
  if (part === 0) return { ...PLAIN, container: running(run, lastState), lastsMs: livesMs };
  const state = part === 1 ? endedAt(nowMs) : { waiting: { reason: 'CrashLoopBackOff' } };
  const ended = {
    name: 'main',
    restartCount: run,
    state,
    lastState: part === 2 ? endedAt(nowMs - SECOND_MS) : {},
  };
  const lastsMs = part === 1 ? SECOND_MS : waitMs;
  return { ...PLAIN, isReady: false, container: ended, lastsMs };
}

function leak(index: number, nowMs: number): AilingStep {
  const run = index >> 1;
  const killedAt = (atMs: number): JsonObject => ({
    terminated: {
      reason: 'OOMKilled',
      exitCode: 137,
      finishedAt: new Date(atMs).toISOString(),
    },
  });
  if (index % 2 === 0) {
    const lastState = run === 0 ? {} : killedAt(nowMs - SECOND_MS);
    return { ...PLAIN, container: running(run, lastState), lastsMs: LEAK_MS };
  }
  const container = { name: 'main', restartCount: run, state: killedAt(nowMs), lastState: {} };
  return { ...PLAIN, isReady: false, container, lastsMs: SECOND_MS };
}
