/**
 * The life of a simulated container: created, running, exited, as its simulation asks and signals demand; and what it answers
 * to probes and hooks meanwhile.
 *
 *     created --start--> running --exit@ / oom@--------------------> exited (its code, OOMKilled 137)
 *                           |----its pod waits for its end--------> exited 0
 *                           |----SIGTERM, obeyed after `stop`------> exited 0
 *                           |----SIGTERM ignored, grace over-------> exited 137
 *
 * A run has one timer for its own end at most; a container that just runs has none. A second stop with a shorter
 * grace brings the SIGKILL forward.
 */
import type { Cancel, Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { RuntimeError } from './cri.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeEvent, Sandbox } from './cri.ts';
import type { MachineTimers } from './machine-timers.ts';
import type { Simulation } from './simulation-request.ts';

/** A sandbox and its pod. */
export interface SandboxRecord {
  snapshot: Sandbox;
  readonly pod: PodRecord;
}

/** A container, what it was asked to do, and who waits for its end. */
export interface ContainerRecord {
  snapshot: RuntimeContainer;
  readonly sandbox: SandboxRecord;
  readonly simulation: Simulation;
  /** Ends the timers of its run. */
  readonly timers: Set<Cancel>;
  /** When SIGKILL comes, while it is being stopped. */
  killAtMs: number;
  cancelKill: Cancel;
  isTerminating: boolean;
  readonly onEnd: (() => void)[];
}

/** A pod of which something exists. */
export interface PodRecord {
  readonly uid: string;
  sandboxes: readonly SandboxRecord[];
  containers: readonly ContainerRecord[];
  /** How often what was asked to fail has failed, by verb and container. */
  readonly failures: Map<string, number>;
}

/** What the life of containers needs. */
export interface LifeContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: MachineTimers;
  readonly emit: (event: RuntimeEvent) => void;
}

/** How a container ended. */
interface Ending {
  readonly exitCode: number;
  readonly reason: string;
}

const SHORTEST_START_MS = 20;
const START_RANGE_MS = 60;
const SHORTEST_STOP_MS = 10;
const STOP_RANGE_MS = 40;

/** How long a container works whose pod waits for its end, if nothing is asked of it. */
const AWAITED_RUN_MS = 500;

const COMPLETED: Ending = { exitCode: 0, reason: 'Completed' };
const KILLED: Ending = { exitCode: 137, reason: 'Error' };
const OUT_OF_MEMORY: Ending = { exitCode: 137, reason: 'OOMKilled' };
/** What containerd says of a task that could not be started. */
const NOT_STARTED: Ending = { exitCode: 128, reason: 'StartError' };

/** Starts a created container; rejects with RuntimeError `Start`. `fails` is asked once. */
export async function startContainer(
  context: LifeContext,
  record: ContainerRecord,
  fails: () => boolean,
): Promise<void> {
  const { clock, random, timers } = context;
  const { simulation, snapshot } = record;
  if (snapshot.state !== 'created') throw startError('the container has been started before');
  const usualMs = SHORTEST_START_MS + random.next() * START_RANGE_MS;
  await timers.wait(Math.round(simulation.startMs ?? usualMs));
  if (record.snapshot.state !== 'created') throw startError('the container has been stopped');
  if (fails()) {
    end(context, record, NOT_STARTED);
    throw startError('simulated failure');
  }
  record.snapshot = { ...snapshot, state: 'running', startedAtMs: clock.nowMs() };
  scheduleEnd(context, record);
  emit(context, record, 'started');
}

/** Ends a container: SIGTERM, SIGKILL after the grace. Resolves when it has ended. */
export async function stopContainer(
  context: LifeContext,
  record: ContainerRecord,
  graceSeconds: number,
): Promise<void> {
  if (record.snapshot.state === 'exited') return;
  if (record.snapshot.state === 'created' || graceSeconds <= 0) {
    end(context, record, KILLED);
    return;
  }
  const ended = new Promise<void>((resolve) => {
    record.onEnd.push(resolve);
  });
  killAfter(context, record, graceSeconds * 1000);
  terminate(context, record);
  await ended;
}

/** SIGKILL, now; nothing to do for one that has ended. */
export function killContainer(context: LifeContext, record: ContainerRecord): void {
  if (record.snapshot.state !== 'exited') end(context, record, KILLED);
}

/** Does this run of the container misbehave at all? */
export function isAffected({ simulation, snapshot }: ContainerRecord): boolean {
  return snapshot.config.attempt < simulation.affectedRuns;
}

function terminate(context: LifeContext, record: ContainerRecord): void {
  const { simulation } = record;
  if (record.isTerminating || simulation.ignoresSigterm) return;
  record.isTerminating = true;
  const usualMs = SHORTEST_STOP_MS + context.random.next() * STOP_RANGE_MS;
  const stopMs = Math.round(simulation.stopMs ?? usualMs);
  record.timers.add(
    context.timers.after(stopMs, () => {
      end(context, record, COMPLETED);
    }),
  );
}

function killAfter(context: LifeContext, record: ContainerRecord, delayMs: number): void {
  const killAtMs = context.clock.monotonicMs() + delayMs;
  if (killAtMs >= record.killAtMs) return;
  record.killAtMs = killAtMs;
  record.cancelKill();
  record.cancelKill = context.timers.after(delayMs, () => {
    end(context, record, KILLED);
  });
}

function scheduleEnd(context: LifeContext, record: ContainerRecord): void {
  const asked = isAffected(record) ? askedEnd(record.simulation) : undefined;
  const isAwaited = record.snapshot.config.isAwaited;
  const next = asked ?? (isAwaited ? { afterMs: AWAITED_RUN_MS, ending: COMPLETED } : undefined);
  if (next === undefined || next.afterMs === Number.POSITIVE_INFINITY) return;
  record.timers.add(
    context.timers.after(next.afterMs, () => {
      end(context, record, next.ending);
    }),
  );
}

function askedEnd({
  exit,
  oomAfterMs,
}: Simulation): { readonly afterMs: number; readonly ending: Ending } | undefined {
  if (oomAfterMs !== undefined && oomAfterMs <= (exit?.afterMs ?? oomAfterMs)) {
    return { afterMs: oomAfterMs, ending: OUT_OF_MEMORY };
  }
  if (exit === undefined) return undefined;
  const { code, afterMs } = exit;
  return { afterMs, ending: code === 0 ? COMPLETED : { exitCode: code, reason: 'Error' } };
}

function end(context: LifeContext, record: ContainerRecord, ending: Ending): void {
  for (const cancel of record.timers) cancel();
  record.timers.clear();
  record.cancelKill();
  record.snapshot = {
    ...record.snapshot,
    state: 'exited',
    finishedAtMs: context.clock.nowMs(),
    ...ending,
  };
  emit(context, record, 'stopped');
  for (const resolve of record.onEnd.splice(0)) resolve();
}

function emit(context: LifeContext, record: ContainerRecord, type: RuntimeEvent['type']): void {
  context.emit({ podUid: record.sandbox.pod.uid, type, id: record.snapshot.id });
}

function startError(because: string): RuntimeError {
  return new RuntimeError(
    'Start',
    `rpc error: code = Unknown desc = failed to start containerd task: ${because}`,
  );
}

type ProbeInput = Parameters<ContainerRuntime['probe']>[0];

type ProbeAnswer = Awaited<ReturnType<ContainerRuntime['probe']>>;

/** Asks a container for a probe or hook of whatever kind; one that does not run fails. */
export async function answerProbe(
  { clock, timers }: LifeContext,
  record: ContainerRecord | undefined,
  { kind, timeoutSeconds }: ProbeInput,
): Promise<ProbeAnswer> {
  if (record?.snapshot.state !== 'running') return 'failure';
  const nowMs = clock.nowMs();
  const answer = decide(record, kind, nowMs - (record.snapshot.startedAtMs ?? nowMs));
  const timeoutMs = timeoutSeconds * 1000;
  const durationMs = durationOf(record, kind);
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
