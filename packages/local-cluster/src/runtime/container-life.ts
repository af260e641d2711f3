/**
 * The life of a simulated container: created, running, exited, as its simulation asks and signals demand.
 *
 *     created --start--> running --exit@ / oom@--------------------> exited (its code, OOMKilled 137)
 *                           |----its pod waits for its end--------> exited 0
 *                           |----SIGTERM, obeyed after `stop`------> exited 0
 *                           |----SIGTERM ignored, grace over-------> exited 137
 *
 * A run has one timer for its own end at most; a container that just runs has none. A second stop with a shorter
 * grace brings the SIGKILL forward.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { RuntimeError } from './cri.ts';
import type { RuntimeEvent } from './cri.ts';
import type { ContainerRecord } from './machine-records.ts';
import { takeFailure } from './machine-records.ts';
import type { MachineTimers } from './machine-timers.ts';
import type { Simulation } from './simulation-request.ts';

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

/** Starts a created container; rejects with RuntimeError `Start`. */
export async function startContainer(context: LifeContext, record: ContainerRecord): Promise<void> {
  const { clock, random, timers } = context;
  const { simulation, snapshot } = record;
  if (snapshot.state !== 'created') throw startError('the container has been started before');
  await timers.wait(
    Math.round(simulation.startMs ?? SHORTEST_START_MS + random.next() * START_RANGE_MS),
  );
  if (record.snapshot.state !== 'created') throw startError('the container has been stopped');
  const what = `start ${snapshot.config.name}`;
  if (takeFailure(record.sandbox.pod, { what, times: simulation.startFailures })) {
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
