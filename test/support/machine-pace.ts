/**
 * How much slower than a quiet machine of the reference kind this one is, while something is measured.
 *
 * Bounds that an issue states in seconds are stated for a machine that has nothing else to do. On another one the same
 * work waits for a processor, or runs on a slower one: the meter samples both (runnable threads of others for each
 * processor; processor time of a fixed piece of work) and stretches a bound by their product. What this process and
 * its children do counts for nothing (own-threads.ts): work of ours that got slower must not stretch its own bound.
 * It never shortens one, and a stretched bound has a limit: what hangs must still fail.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createOwnThreads, type OwnThreads } from './own-threads.ts';

export interface PaceMeter {
  /** 1 on a quiet machine of the reference kind, 2 where everything takes twice as long. Ends the meter. */
  readonly stop: () => number;
}

/** Each sample reads the whole table of processes. */
const PERIOD_MS = 500;
/** Processor time of one piece of work where the bounds were first measured. */
const REFERENCE_WORK_MS = 2;
const WORK_ROUNDS = 2_000_000;
/** The first pieces run before the compiler has seen them. */
const WARM_UP = 4;
/** A bound is stretched by so much at most. */
export const FACTOR_MAX = 4;

/** Starts to measure. */
export function startPaceMeter(): PaceMeter {
  for (let round = 0; round < WARM_UP; round += 1) measureWork();
  const own = createOwnThreads();
  const others: number[] = [];
  const works: number[] = [];
  const sample = (): void => {
    others.push(readOthers(own));
    works.push(measureWork());
  };
  sample();
  const timer = setInterval(sample, PERIOD_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
      return slowdownOf({ others, works });
    },
  };
}

/** A clock that stands still while this thread has no processor: what it computes itself counts, however long it takes. */
export interface AttendedClock {
  /** Milliseconds since it was started, without those in which nothing here could run. */
  readonly nowMs: () => number;
  readonly stop: () => void;
}

const TICK_MS = 50;
/** A tick may be this late before the rest is taken for a standstill. */
const TICK_LATE_MS = 25;

/** Starts one: for time that is given to somebody who needs a processor as much as this process does. */
export function startAttendedClock(): AttendedClock {
  let attendedMs = 0;
  let lastMs = performance.now();
  let lastCpu = process.threadCpuUsage();
  const advance = (): number => {
    const nowMs = performance.now();
    const { user, system } = process.threadCpuUsage(lastCpu);
    const computedMs = (user + system) / 1000;
    attendedMs += Math.min(nowMs - lastMs, Math.max(TICK_MS + TICK_LATE_MS, computedMs));
    lastMs = nowMs;
    lastCpu = process.threadCpuUsage();
    return attendedMs;
  };
  const timer = setInterval(advance, TICK_MS);
  timer.unref();
  return {
    nowMs: advance,
    stop: () => {
      clearInterval(timer);
    },
  };
}

/** A bound that is stated for a quiet machine, for this one. */
export function stretched(boundMs: number, slowdown: number): number {
  return Math.round(boundMs * slowdown);
}

/**
 * The factor from samples: runnable threads of others for each processor, and milliseconds of the piece of work. Where
 * others have as many threads as there are processors, ours have half of each. Pure.
 */
function slowdownOf(samples: {
  readonly others: readonly number[];
  readonly works: readonly number[];
}): number {
  const contention = 1 + meanOf(samples.others);
  // The kernel counts processor time in ticks that are longer than one piece: only the mean says something.
  const speed = Math.max(1, meanOf(samples.works) / REFERENCE_WORK_MS);
  return Math.min(FACTOR_MAX, contention * speed);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
}

/** Runnable threads of others for each processor; 0 where the kernel does not say. */
function readOthers(own: OwnThreads): number {
  const [running = '0'] = readFileSync('/proc/loadavg', 'utf8').split(' ')[3]?.split('/') ?? [];
  return othersOf(Number(running), own.countRunnable()) / availableParallelism();
}

/** Of so many runnable threads, those that are not ours. The two are not counted at one moment. Pure. */
function othersOf(running: number, ours: number): number {
  return Math.max(0, running - ours);
}

let sink = 0;

/** Processor time of the piece of work, in milliseconds. */
function measureWork(): number {
  const before = process.threadCpuUsage();
  let value = sink | 1;
  for (let round = 0; round < WORK_ROUNDS; round += 1) {
    value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
  }
  sink = value;
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
