/**
 * Shares seeds out to threads, prints progress, shrinks and keeps what broke, and sums up.
 *
 * Shrinking happens here, not in the threads, for the first failure of each rule only: it takes its time.
 */
import path from 'node:path';
import { FAULTS, STEPS } from '../../support/simulation/deeds.ts';
import { presentCommit } from '../../support/commit.ts';
import { describeBroken } from '../../support/simulation/describe-broken.ts';
import { keepPlan } from '../../support/simulation/kept-plan.ts';
import { runSeed } from '../../support/simulation/run-seed.ts';
import { shrinkPlan } from '../../support/simulation/shrink-plan.ts';
import type { SeedReport } from './seed-report.ts';
import type { SeedThreads } from './worker-pool.ts';

export interface SimulationRequest {
  readonly first: number;
  readonly seedsCount: number;
  readonly stepsCount: number;
  readonly profile: string;
  readonly isTwice: boolean;
  readonly isJson: boolean;
  readonly isTracing: boolean;
  /** True: no list of what happened at the end. */
  readonly isBrief: boolean;
  /** Where the smallest plan of a failure is kept; absent: nowhere. */
  readonly keepTo?: string;
  readonly shrinkMs: number;
}

const PROGRESS_MS = 5000;
const HOUR_MS = 3_600_000;

interface Totals {
  readonly startedMs: number;
  readonly happened: Map<string, number>;
  readonly broken: SeedReport[];
  readonly shrunkRules: Set<string>;
  played: number;
  virtualMs: number;
  judged: number;
  saidMs: number;
}

/** Plays what is asked; answers the exit code. */
export async function runSimulation(
  request: SimulationRequest,
  threads: SeedThreads,
): Promise<number> {
  const startedMs = performance.now();
  const totals: Totals = {
    startedMs,
    happened: new Map(),
    broken: [],
    shrunkRules: new Set(),
    played: 0,
    virtualMs: 0,
    judged: 0,
    saidMs: startedMs,
  };
  const { first, seedsCount, stepsCount, profile, isTwice, isTracing } = request;
  const orders = Array.from({ length: seedsCount }, (_, index) => {
    return { seed: first + index, profile, stepsCount, isTwice, isTracing };
  });
  await threads.play(orders, async (report) => {
    add(totals, report);
    if (report.trace !== undefined) say(request, report.trace.join('\n'));
    if (report.broken !== undefined) await examine(request, totals, report);
    sayProgress(request, totals);
  });
  sumUp(request, totals);
  return totals.broken.length === 0 ? 0 : 1;
}

/** Progress and findings go to stderr when stdout is for JSON. */
function say({ isJson }: SimulationRequest, text: string): void {
  (isJson ? process.stderr : process.stdout).write(`${text}\n`);
}

function add(totals: Totals, report: SeedReport): void {
  totals.played += 1;
  totals.virtualMs += report.virtualMs;
  totals.judged += report.judged;
  if (report.broken !== undefined) totals.broken.push(report);
  for (const [deed, times] of Object.entries(report.happened)) {
    totals.happened.set(deed, (totals.happened.get(deed) ?? 0) + times);
  }
}

function sayProgress(request: SimulationRequest, totals: Totals): void {
  const nowMs = performance.now();
  if (nowMs - totals.saidMs < PROGRESS_MS) return;
  totals.saidMs = nowMs;
  const seconds = ((nowMs - totals.startedMs) / 1000).toFixed(0);
  const { played, broken } = totals;
  say(request, `${played} of ${request.seedsCount} seeds, ${broken.length} broken, ${seconds} s`);
}

/** Prints a failure; shrinks and keeps the first one of each rule. */
async function examine(
  request: SimulationRequest,
  totals: Totals,
  report: SeedReport,
): Promise<void> {
  if (report.broken === undefined) return;
  const { rule, text } = report.broken;
  say(request, `\n${text}`);
  if (totals.shrunkRules.has(rule) || rule === 'M2' || report.hash === '') return;
  totals.shrunkRules.add(rule);
  const { profile, stepsCount: steps, shrinkMs } = request;
  const result = await runSeed({ seed: report.seed, profile, steps });
  if (result.kind !== 'broken') return;
  const untilMs = performance.now() + shrinkMs;
  const smallest = await shrinkPlan(result, { isOver: () => performance.now() >= untilMs });
  if (request.keepTo === undefined) {
    // The shrunk plan is no seed's own: only a file can play it.
    const again = 'as above; without --no-keep, what was shrunk is kept as a file';
    say(request, `shrunk: ${JSON.stringify(smallest.plan)}\n${describeBroken(smallest, again)}`);
    return;
  }
  const file = path.relative(process.cwd(), keepPlan(smallest, request.keepTo));
  say(request, `shrunk to ${smallest.plan.steps.length} steps and kept as ${file}`);
  say(request, describeBroken(smallest, `npm run sim -- --replay ${file}`));
}

function sumUp(request: SimulationRequest, totals: Totals): void {
  const seconds = (performance.now() - totals.startedMs) / 1000;
  const hours = totals.virtualMs / HOUR_MS;
  const counts = Object.fromEntries(
    [...FAULTS, ...STEPS].map((deed) => [deed, totals.happened.get(deed) ?? 0]),
  );
  if (request.isJson) {
    const summary = {
      commit: presentCommit(),
      profile: request.profile,
      first: request.first,
      seeds: totals.played,
      broken: totals.broken.map(({ seed, profile, broken }) => ({ seed, profile, ...broken })),
      happened: counts,
      judged: totals.judged,
      simulatedHours: hours,
      seconds,
    };
    process.stdout.write(`${JSON.stringify(summary, undefined, 2)}\n`);
    return;
  }
  const list = (deeds: readonly string[]): string =>
    deeds.map((deed) => `${deed} ${counts[deed] ?? 0}`).join(', ');
  if (!request.isBrief) {
    say(request, `\nfaults fired: ${list(FAULTS)}`);
    say(request, `steps taken: ${list(STEPS)}`);
  }
  say(request, `${totals.judged} deletes of available pods held against their budget (S3)`);
  const pace = `${hours.toFixed(1)} simulated hours, ${(hours / seconds).toFixed(2)} in a second`;
  say(request, `${totals.played} seeds in ${seconds.toFixed(1)} s; ${pace}`);
  const seeds = totals.broken.map(({ seed }) => seed).join(', ');
  say(request, seeds === '' ? 'every promise held' : `broken: ${seeds}`);
}
