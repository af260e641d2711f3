/**
 * A soak: an ordinary day on the real control plane, compressed, and whether anything grows or happens without cause.
 *
 * The theatre is that of the chaos suite, without faults and without the shipped admission policy (it refuses containers
 * that its list does not say; test/conformance/rights holds it). Judged are S1 to S7 by the independent witness; patches
 * of pods by us, of which a day gives no cause; requests and runs a minute, and memory, by thirds of the day (growth.ts;
 * memory from twenty minutes on: a heap that is still warming grows); and, once the day is over, that all settles (L1) and looks fall to the heartbeat's (L5).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FACTOR_MAX, startPaceMeter, stretched } from '../../support/machine-pace.ts';
import { setScene } from '../chaos/churn.ts';
import { describeWrong } from '../chaos/chaos.ts';
import { judgeHistory, type Violation } from '../chaos/judge.ts';
import { latenessOf } from '../chaos/lateness.ts';
import { PART_NAMES } from '../chaos/cast.ts';
import { readOwnDeletions } from '../chaos/own-deletions.ts';
import { findUnrest, readRuns } from '../chaos/rest.ts';
import { waitUntilCollected, waitUntilSettled, watchQuiet } from '../chaos/settle.ts';
import { openTheatre, type Theatre } from '../chaos/theatre.ts';
import { createWitness } from '../chaos/witness.ts';
import { readAuditRecords, type AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { readRssBytes } from '../control-plane/process-usage.ts';
import { createSeeded } from '../scenarios/seeded.ts';
import { beginDay } from './day.ts';
import { mediansOf, memoryGrowth, rateGrowth, ratesOf, type Moment, type Span } from './growth.ts';
import { injectSidecars } from './sidecar-policy.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly nodesCount: number;
  readonly keepLogs: boolean;
  readonly say: (line: string) => void;
}

/** What came of it; rates are a minute, memory in bytes, both by thirds of the day. */
export interface SoakResult {
  readonly seed: number;
  readonly routines: Readonly<Record<string, number>>;
  readonly refused: number;
  readonly rates: Readonly<Record<string, readonly number[]>>;
  readonly memory: Readonly<Record<string, readonly number[]>>;
  readonly settledMs: number;
  readonly looksInQuiet: number;
  readonly failures: readonly string[];
  readonly directory: string;
}

const FIRST_SETTLE_MS = 300_000;
/** As in the chaos suite, on a machine with nothing else to do. */
const SETTLE_MS = 60_000;
const COLLECTED_MS = 240_000;
const QUIET_MS = 30_000;
const SAMPLE_MS = 5000;
/** In a shorter day the last third says nothing of memory. */
const WARM_MINUTES = 20;
/** A machine that has more to do freezes nobody, and is measured by the promise alone. */
const LATENESS = latenessOf({ freezeMsMax: 0, slowdown: 1 });
/** On a real API server, once quiet: reads of one DaemonSet in thirty seconds (L5). */
const LOOKS_MAX = 2;

/** Plays one day; everything is stopped when it resolves. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { keepLogs } = options;
  const theatre = await openTheatre({ keepLogs, admission: 'none', engineLog: 'debug' });
  try {
    return await play(options, theatre);
  } finally {
    await theatre.close();
  }
}

async function play(options: SoakOptions, theatre: Theatre): Promise<SoakResult> {
  const { seed, minutes, nodesCount, say } = options;
  const { admin, controlPlane, directory } = theatre;
  await injectSidecars(admin);
  await setScene(admin, nodesCount);
  const first = await waitUntilSettled(admin, { deadlineMs: FIRST_SETTLE_MS });
  if (first.wrong.length > 0) throw new Error(`never set: ${describeWrong(first.wrong)}`);
  say(`the day begins; the logs are in ${directory}`);
  const witness = createWitness(controlPlane.connectionOf('observer'));
  await witness.beginHistory();
  const memory = { watcher: [] as Moment[], engine: [] as Moment[] };
  const fromMs = Date.now();
  const day = beginDay({ admin, seeded: createSeeded(seed), nodesCount });
  while (Date.now() < fromMs + minutes * 60_000) {
    await delay(SAMPLE_MS);
    for (const name of ['watcher', 'engine'] as const) {
      const pid = theatre[name].pid();
      if (pid !== undefined) memory[name].push({ atMs: Date.now(), value: readRssBytes(pid) });
    }
  }
  const span = { fromMs, toMs: Date.now() };
  await day.end();
  say('the day is over');
  const evening = await settleAndRest(theatre);
  await witness.endHistory();
  const own = await readOwnDeletions(controlPlane.auditLogPath);
  const violations = witness.histories.flatMap((history) =>
    judgeHistory({
      history,
      ownDeletions: own.filter(({ atMs }) => atMs >= history.fromMs && atMs <= history.toMs),
      isFirst: true,
      lateness: LATENESS,
    }),
  );
  const rates = await countDay(theatre, span);
  const medians = {
    watcher: mediansOf(memory.watcher, span),
    engine: mediansOf(memory.engine, span),
  };
  return {
    seed,
    routines: day.counts,
    refused: day.refused(),
    rates,
    memory: medians,
    settledMs: evening.settledMs,
    looksInQuiet: evening.looks,
    failures: [
      ...violations.map(describeViolation),
      ...(await findCauseless(theatre, span)),
      ...Object.entries(rates).flatMap(([name, thirds]) => rateGrowth(name, thirds) ?? []),
      ...(minutes < WARM_MINUTES ? [] : Object.entries(medians)).flatMap(
        ([name, thirds]) => memoryGrowth(name, thirds) ?? [],
      ),
      ...ownEnds(theatre),
      ...evening.failures,
    ],
    directory,
  };
}

/** All is right within its time, then not a write, and of each DaemonSet no more looks than a heartbeat's. */
async function settleAndRest({
  admin,
  controlPlane: { auditLogPath },
  engine,
  countTimers,
}: Theatre): Promise<{
  readonly settledMs: number;
  readonly looks: number;
  readonly failures: readonly string[];
}> {
  const pace = startPaceMeter();
  // Side by side: only what waits for the collectors waits for them.
  const [{ left }, settled] = await Promise.all([
    waitUntilCollected(admin, { deadlineMs: COLLECTED_MS, ownerlessMsMax: COLLECTED_MS }),
    waitUntilSettled(admin, { deadlineMs: stretched(SETTLE_MS, FACTOR_MAX) }),
  ]);
  const settleMsMax = stretched(SETTLE_MS, pace.stop());
  const wrong = [...left, ...settled.wrong];
  if (wrong.length > 0) {
    const failures = [`L1: never settled: ${describeWrong(wrong)}`];
    return { settledMs: settled.tookMs, looks: 0, failures };
  }
  const quiet = { quietMs: QUIET_MS, leftMs: settleMsMax };
  const { sinceMs, writes } = await watchQuiet(auditLogPath, quiet);
  const looks = await readAuditRecords(auditLogPath, {
    user: userNameOf('functions'),
    verb: 'get',
    resource: 'daemonsets',
    sinceMs,
  });
  const timers = await countTimers();
  const unrest = await findUnrest({ sinceMs, engineLogPath: engine.logPath, auditLogPath, timers });
  const failures = [
    ...writes.map(
      ({ verb, resource, name }) => `L1: a write in the quiet: ${verb} ${resource} ${name}`,
    ),
    ...unrest.map((what) => `L5: in the quiet: ${what}`),
  ];
  if (settled.tookMs > settleMsMax) {
    const took = `${String(Math.round(settled.tookMs))} ms, not ${String(settleMsMax)}`;
    failures.push(`L1: settled after ${took}`);
  }
  for (const name of PART_NAMES) {
    const count = looks.filter((look) => look.name === name).length;
    if (count > LOOKS_MAX) failures.push(`L5: ${String(count)} looks at ${name} in the quiet`);
  }
  return { settledMs: settled.tookMs, looks: looks.length, failures };
}

/** The day adopts, releases and relabels nothing: each such patch of ours is one too many. */
async function findCauseless(
  { controlPlane }: Theatre,
  { fromMs, toMs }: Span,
): Promise<readonly string[]> {
  const patches = await readAuditRecords(controlPlane.auditLogPath, {
    user: userNameOf('functions'),
    verb: 'patch',
    resource: 'pods',
    sinceMs: fromMs,
    where: ({ receivedAtMs, code }) => receivedAtMs <= toMs && code < 300,
  });
  return patches.map(({ name }) => `pod ${name} was patched without cause`);
}

async function countDay(
  theatre: Theatre,
  span: Span,
): Promise<Readonly<Record<string, readonly number[]>>> {
  const { auditLogPath } = theatre.controlPlane;
  const momentOf = ({ receivedAtMs }: AuditRecord): Moment => ({ atMs: receivedAtMs, value: 1 });
  const requestsOf = async (actor: 'functions' | 'watcher'): Promise<readonly number[]> => {
    const filter = { user: userNameOf(actor), sinceMs: span.fromMs };
    return ratesOf((await readAuditRecords(auditLogPath, filter)).map(momentOf), span);
  };
  return {
    'requests of the functions': await requestsOf('functions'),
    'requests of the watcher': await requestsOf('watcher'),
    runs: ratesOf(await readActingRuns(theatre.engine.logPath), span),
  };
}

/** Runs that were more than a skip. */
async function readActingRuns(logPath: string): Promise<readonly Moment[]> {
  const runs = await readRuns(logPath);
  return runs
    .filter(({ outcome }) => outcome !== 'skipped')
    .map(({ atMs }) => ({ atMs, value: 1 }));
}

function ownEnds({ watcher, engine }: Theatre): readonly string[] {
  return [watcher, engine].flatMap((program) =>
    program.ownEnds() + program.startsInVain() === 0 ? [] : [`${program.name} ended by itself`],
  );
}

function describeViolation({ promise, atMs, what }: Violation): string {
  return `${promise} at ${new Date(atMs).toISOString()}: ${what}`;
}
