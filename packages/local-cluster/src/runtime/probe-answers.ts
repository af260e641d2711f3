/**
 * What a simulated container answers to probes and hooks, of whatever kind: exec, HTTP, TCP and gRPC alike.
 *
 * Answers follow from how long it has run; an answer that is immediate needs no timer.
 */
import { isAffected } from './container-life.ts';
import type { ContainerRuntime } from './cri.ts';
import type { ContainerRecord } from './machine-records.ts';
import type { MachineTimers } from './machine-timers.ts';

type ProbeInput = Parameters<ContainerRuntime['probe']>[0];

/** An answer to a probe. */
export type ProbeAnswer = Awaited<ReturnType<ContainerRuntime['probe']>>;

/** Asks a container; one that does not run fails. */
export async function answerProbe(input: {
  readonly record: ContainerRecord | undefined;
  readonly request: ProbeInput;
  readonly timers: MachineTimers;
  readonly nowMs: number;
}): Promise<ProbeAnswer> {
  const { record, request, timers, nowMs } = input;
  if (record?.snapshot.state !== 'running') return 'failure';
  const answer = decide(record, request.kind, nowMs - (record.snapshot.startedAtMs ?? nowMs));
  const timeoutMs = request.timeoutSeconds * 1000;
  const durationMs = durationOf(record, request.kind);
  await timers.wait(Math.min(durationMs, timeoutMs));
  if (durationMs > timeoutMs) return 'timeout';
  // A container that ended meanwhile takes its hooks and probes with it.
  return isRunning(record) ? answer : 'failure';
}

function isRunning({ snapshot }: ContainerRecord): boolean {
  return snapshot.state === 'running';
}

function durationOf({ simulation }: ContainerRecord, kind: ProbeInput['kind']): number {
  if (kind === 'postStart') return simulation.postStartMs;
  return kind === 'preStop' ? simulation.preStopMs : simulation.probeMs;
}

function decide(record: ContainerRecord, kind: ProbeInput['kind'], ranMs: number): ProbeAnswer {
  const { simulation } = record;
  const affected = isAffected(record);
  switch (kind) {
    case 'startup':
      return answerOf(ranMs >= simulation.startupAfterMs);
    case 'readiness':
      return answerOf(ranMs >= simulation.readyAfterMs && !(affected && isUnready(record, ranMs)));
    case 'liveness':
      return answerOf(!(affected && ranMs >= simulation.livenessFailsAtMs));
    case 'postStart':
      return answerOf(!(affected && simulation.failsPostStart));
    case 'preStop':
      return answerOf(!(affected && simulation.failsPreStop));
  }
}

/** From a moment on, or in turns: the first turn begins when the container could be ready. */
function isUnready({ simulation }: ContainerRecord, ranMs: number): boolean {
  const { unreadyAtMs, flapMs = 0, readyAfterMs } = simulation;
  const isOff = flapMs > 0 && Math.floor((ranMs - readyAfterMs) / flapMs) % 2 === 1;
  return isOff || ranMs >= unreadyAtMs;
}

function answerOf(isGood: boolean): ProbeAnswer {
  return isGood ? 'success' : 'failure';
}
