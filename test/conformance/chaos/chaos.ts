/**
 * One run of chaos: set the theatre, churn, perform the plan, let all settle, watch the quiet, judge.
 *
 * Safety (S…) is judged over the whole run, liveness (L1) after the last fault and the end of the churn.
 * The seed decides plan and churn; the machine decides the rest, so that a run is not repeated exactly.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditRecord } from '../control-plane/audit.ts';
import { startPaceMeter, stretched } from '../../support/machine-pace.ts';
import { createSeeded } from '../scenarios/seeded.ts';
import { setScene, startChurn } from './churn.ts';
import { judgeHistory, type Violation } from './judge.ts';
import { readOwnDeletions } from './own-deletions.ts';
import { longestFreezeMs, planFaults, type FaultKind, type PlannedFault } from './plan.ts';
import { latenessOf } from './lateness.ts';
import { startEndedLoops } from './loops.ts';
import { findUnrest } from './rest.ts';
import { waitUntilCollected, waitUntilSettled, watchQuiet, type Settled } from './settle.ts';
import { openTheatre, type Theatre } from './theatre.ts';
import { createWitness, type Witness } from './witness.ts';
import { FAULTS, type FaultContext, type FaultResult, type Target } from './faults.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesObject } from '../control-plane/api.ts';
import { listAll } from '../control-plane/watch.ts';

const LINES_MAX = 25;
const LINE_CHARACTERS_MAX = 400;
const LOGS = [
  'engine.log',
  'watcher.log',
  'control-plane/controllerManager.log',
  'control-plane/scheduler.log',
  'control-plane/kwok.log',
];

/** Lines for people. */
async function gatherEvidence({ admin, directory }: Theatre): Promise<readonly string[]> {
  const lists = await Promise.all([
    listAll(admin, '/api/v1/nodes'),
    listAll(admin, '/apis/apps/v1/namespaces/default/daemonsets'),
    listAll(admin, '/api/v1/namespaces/default/pods'),
  ]);
  const objects = lists.flatMap(({ items }) => items.map(describe));
  const logs = await Promise.all(LOGS.map((name) => lastLines(directory, name)));
  return ['objects:', ...objects, ...logs.flat()];
}

function describe(object: KubernetesObject): string {
  const { name, labels = {}, generation, resourceVersion } = object.metadata;
  const { nodeName, taints } = object['spec'] as {
    readonly nodeName?: string;
    readonly taints?: unknown;
  };
  const shown = {
    name,
    resourceVersion,
    labels,
    ...(generation === undefined ? {} : { generation, status: object['status'] }),
    ...(taints === undefined ? {} : { taints }),
    ...(nodeName === undefined ? {} : { nodeName, ...podState(object) }),
  };
  return `  ${JSON.stringify(shown)}`;
}

function podState(pod: KubernetesObject): object {
  const { deletionTimestamp } = pod.metadata;
  const { phase, conditions = [] } = pod['status'] as {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  const ready = conditions.find(({ type }) => type === 'Ready')?.status;
  return { phase, ready, deletionTimestamp };
}

async function lastLines(directory: string, name: string): Promise<readonly string[]> {
  const text = await readFile(join(directory, name), 'utf8').catch(
    (cause: unknown) => `cannot be read: ${String(cause)}`,
  );
  const lines = text.trimEnd().split('\n').slice(-LINES_MAX);
  return [`${name}:`, ...lines.map((line) => `  ${line.slice(0, LINE_CHARACTERS_MAX)}`)];
}

interface PerformedFault extends FaultResult {
  readonly planned: PlannedFault;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

/** Performs all; resolves when the last one is healed. */
async function performPlan(
  plan: readonly PlannedFault[],
  context: FaultContext,
  onPerformed: (fault: PerformedFault) => void,
): Promise<readonly PerformedFault[]> {
  const locks = new Locks();
  const performed: PerformedFault[] = [];
  const lane = async (number: number): Promise<void> => {
    for (const planned of plan.filter((fault) => fault.lane === number)) {
      await delay(planned.gapMs);
      const release = await locks.acquire(FAULTS[planned.kind].targets);
      const beganAtMs = Date.now();
      const result = await performOne(planned, context);
      release();
      const fault = { ...result, planned, beganAtMs, endedAtMs: Date.now() };
      performed.push(fault);
      onPerformed(fault);
    }
  };
  await Promise.all([lane(0), lane(1)]);
  return performed;
}

async function performOne(planned: PlannedFault, context: FaultContext): Promise<FaultResult> {
  try {
    return await FAULTS[planned.kind].perform(context, planned);
  } catch (error) {
    const evidence = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { hasFired: false, evidence };
  }
}

/** All targets at once or none: two lanes cannot wait for each other. */
class Locks {
  readonly #held = new Set<Target>();
  #waiting: (() => void)[] = [];

  async acquire(targets: readonly Target[]): Promise<() => void> {
    while (targets.some((target) => this.#held.has(target))) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    for (const target of targets) this.#held.add(target);
    return () => {
      for (const target of targets) this.#held.delete(target);
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    };
  }
}

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly kinds: readonly FaultKind[];
  readonly nodesCount: number;
  /** In which everything must settle after the last fault, on a machine with nothing else to do. */
  readonly settleMsMax: number;
  readonly keepLogs: boolean;
  readonly say: (line: string) => void;
  /** Ends the run early, with everything stopped. */
  readonly signal?: AbortSignal;
}

export interface ChaosResult {
  readonly seed: number;
  readonly faults: readonly PerformedFault[];
  /** Planned faults that did not fire (M1). */
  readonly unfired: readonly PlannedFault[];
  readonly violations: readonly Violation[];
  readonly settledMs: number;
  /** In which it had to settle: what was asked for, on a machine that was as busy as this one meanwhile. */
  readonly settleMsMax: number;
  /** What was wrong when the time to settle was over. */
  readonly unsettled: readonly string[];
  /** How the pods and the processes were then; empty when all settled. */
  readonly evidence: readonly string[];
  readonly writesInQuiet: readonly AuditRecord[];
  /** Which keys were looked at for nothing then (L5). */
  readonly unrest: readonly string[];
  readonly churn: Readonly<Record<string, number>>;
  readonly churnRefused: number;
  readonly ownDeletionsCount: number;
  readonly eventsCount: number;
  readonly watcherOwnEnds: number;
  readonly engineOwnEnds: number;
  /** How often the engine refused to start without its cluster: no failure, but told. */
  readonly engineStartsInVain: number;
  readonly directory: string;
}

const FIRST_SETTLE_MS = 300_000;
/** The pod garbage collector looks every 20 s, and waits 40 s before it believes that a node is gone. */
const COLLECTED_MS_MAX = 120_000;
const COLLECTED_AGAIN_MS_MAX = 240_000;
/** The garbage collector goes by events: what it has not begun with by then it has lost. */
const OWNERLESS_MS_MAX = 40_000;
const QUIET_MS = 30_000;
/** Index of the history that begins when the scene is set. */
const CALM_HISTORY = 1;
/** Past the bound it is a failure already; how long it takes all the same tells what kind. */
const PATIENCE = 4;

/** Plays one run; everything is stopped when it resolves. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  // With `debug`, each run leaves a line to be counted.
  const theatre = await openTheatre({ keepLogs: options.keepLogs, engineLog: 'debug' });
  try {
    return await raceAgainst(options.signal, () => play(options, theatre));
  } finally {
    await theatre.close();
  }
}

async function play(options: ChaosOptions, theatre: Theatre): Promise<ChaosResult> {
  const { seed, say } = options;
  const { admin, controlPlane } = theatre;
  const witness = createWitness(controlPlane.connectionOf('observer'));
  await witness.beginHistory();
  await setScene(admin, options.nodesCount);
  const first = await waitUntilSettled(admin, { deadlineMs: FIRST_SETTLE_MS });
  if (first.wrong.length > 0)
    throw new Error(`the scene was never set: ${describeWrong(first.wrong)}`);
  say(`the scene is set after ${seconds(first.tookMs)}; the logs are in ${theatre.directory}`);
  // Anew, so that nodes which are still joining when first seen are not taken for disturbed ones.
  await witness.endHistory();
  await witness.beginHistory();
  const paceInTrouble = startPaceMeter();
  const { plan, churn, faults } = await disturb(options, theatre, witness);
  const slowdownInTrouble = paceInTrouble.stop();
  for (const ended of await startEndedLoops(controlPlane)) say(ended);
  const pace = startPaceMeter();
  const settled = await settle(theatre, options);
  const slowdown = pace.stop();
  const settleMsMax = stretched(options.settleMsMax, slowdown);
  say(
    `${settled.wrong.length === 0 ? 'settled' : 'not settled'} after ${seconds(settled.tookMs)}, ` +
      `of ${seconds(settleMsMax)} (the machine was ${slowdown.toFixed(1)} times slower than a quiet one)`,
  );
  const isQuietDue = settled.wrong.length === 0;
  const evidence = isQuietDue
    ? []
    : await gatherEvidence(theatre).catch((error: unknown) => [String(error)]);
  const quiet = { quietMs: QUIET_MS, leftMs: settleMsMax - settled.tookMs };
  const calm = isQuietDue ? await watchRest(theatre, quiet) : NO_UNREST;
  await witness.endHistory();
  const freezeMsMax = longestFreezeMs(options.minutes);
  const lateness = latenessOf({ freezeMsMax, slowdown: slowdownInTrouble });
  const own = await readOwnDeletions(controlPlane.auditLogPath);
  const violations = witness.histories.flatMap((history, index) =>
    judgeHistory({
      history,
      ownDeletions: own.filter(({ atMs }) => atMs >= history.fromMs && atMs <= history.toMs),
      isFirst: index <= CALM_HISTORY,
      lateness,
    }),
  );
  const fired = new Set(faults.filter(({ hasFired }) => hasFired).map(({ planned }) => planned));
  return {
    seed,
    faults,
    unfired: plan.filter((planned) => !fired.has(planned)),
    violations,
    settledMs: settled.tookMs,
    settleMsMax,
    unsettled: settled.wrong,
    evidence,
    ...calm,
    churn: churn.counts,
    churnRefused: churn.refused(),
    ownDeletionsCount: own.length,
    eventsCount: witness.histories.reduce((sum, { events }) => sum + events.length, 0),
    watcherOwnEnds: theatre.watcherOwnEnds(),
    engineOwnEnds: theatre.engine.ownEnds(),
    engineStartsInVain: theatre.engine.startsInVain(),
    directory: theatre.directory,
  };
}

const NO_UNREST = { writesInQuiet: [], unrest: [] };

/** Once all is right: not a write (L1), and no key is looked at for nothing (L5). */
async function watchRest(
  { controlPlane: { auditLogPath }, engine, countTimers }: Theatre,
  quiet: { readonly quietMs: number; readonly leftMs: number },
): Promise<Pick<ChaosResult, 'writesInQuiet' | 'unrest'>> {
  const { sinceMs, writes } = await watchQuiet(auditLogPath, quiet);
  const timers = await countTimers();
  const engineLogPath = engine.logPath;
  const unrest = await findUnrest({ sinceMs, engineLogPath, auditLogPath, timers });
  return { writesInQuiet: writes, unrest };
}

/** The time to settle begins at once: only what waits for the collectors waits for them. */
async function settle(
  theatre: Theatre,
  { settleMsMax, say }: Pick<ChaosOptions, 'settleMsMax' | 'say'>,
): Promise<Settled> {
  const inVain = new AbortController();
  const settling = waitUntilSettled(theatre.admin, {
    deadlineMs: settleMsMax * PATIENCE,
    signal: inVain.signal,
  });
  try {
    await collectGarbage(theatre, say);
  } catch (error) {
    inVain.abort();
    await settling;
    throw error;
  }
  return settling;
}

/**
 * The garbage collectors of kube-controller-manager lose a DaemonSet's deletion now and then when their
 * API server is killed at that moment (seen: eleven pods of a vanished owner for minutes, one message
 * "pods is forbidden" from the server that had just started). A person starts it again; so does this.
 */
async function collectGarbage(
  { admin, controlPlane }: Theatre,
  say: ChaosOptions['say'],
): Promise<void> {
  const first = await waitUntilCollected(admin, {
    deadlineMs: COLLECTED_MS_MAX,
    ownerlessMsMax: OWNERLESS_MS_MAX,
  });
  say(`the garbage collectors left ${describeWrong(first.left)} after ${seconds(first.tookMs)}`);
  if (first.left.length === 0) return;
  await controlPlane.kill('controllerManager');
  await controlPlane.restart('controllerManager');
  const second = await waitUntilCollected(admin, {
    deadlineMs: COLLECTED_AGAIN_MS_MAX,
    ownerlessMsMax: COLLECTED_AGAIN_MS_MAX,
  });
  say(`started again, ${describeWrong(second.left)} after ${seconds(second.tookMs)}`);
  if (second.left.length > 0) throw new Error(`nobody collects ${describeWrong(second.left)}`);
}

async function disturb(
  options: ChaosOptions,
  theatre: Theatre,
  witness: Witness,
): Promise<{
  readonly plan: readonly PlannedFault[];
  readonly churn: ReturnType<typeof startChurn>;
  readonly faults: readonly PerformedFault[];
}> {
  const { seed, minutes, kinds, nodesCount, say } = options;
  const plan = planFaults({ minutes, kinds, seeded: createSeeded(seed) });
  const churn = startChurn({ admin: theatre.admin, seeded: createSeeded(seed + 1), nodesCount });
  const fromMs = Date.now();
  say(`${String(plan.length)} faults are planned, seed ${String(seed)}`);
  const faults = await performPlan(plan, { theatre, witness }, (fault) => {
    say(describeFault(fault, fromMs));
  });
  await churn.end();
  say('the last fault is healed, the churn has ended');
  return { plan, churn, faults };
}

/** The first few of what is wrong. */
export function describeWrong(wrong: readonly string[]): string {
  if (wrong.length === 0) return 'nothing';
  const shown = wrong.slice(0, 8).join('; ');
  return wrong.length > 8 ? `${shown}; and ${String(wrong.length - 8)} more` : shown;
}

function describeFault(fault: PerformedFault, fromMs: number): string {
  const { planned, hasFired, evidence, beganAtMs } = fault;
  const at = seconds(beganAtMs - fromMs).padStart(8);
  const name = `${planned.lane === 1 ? '+' : ' '}${planned.kind}`.padEnd(19);
  return `${at} ${name}${hasFired ? '' : 'DID NOT FIRE: '}${evidence}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

async function raceAgainst<Result>(
  signal: AbortSignal | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return run();
  const stopped = delay(2 ** 31 - 1, undefined, { signal, ref: false }).then(() => {
    throw new Error('the run was too long');
  });
  return Promise.race([run(), stopped]);
}
