/**
 * Runs the engine for a person: live table, latest activity, Ctrl-C, `--exit-when-settled`, `--json`.
 *
 * stdout holds the table, or with `--json` exactly one document and nothing else; progress and log
 * lines go to stderr. Leaving waits for what was begun, so that nothing is left half-done.
 */
import { isDeepStrictEqual } from 'node:util';
import { defined } from '@rollcall/base/defined.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { packageFile } from '../../engine/package-files.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { startEngine, type Engine } from '../../engine/engine.ts';
import type { ClusterOverview } from '../../engine/overview.ts';
import type { NodeCounts } from '../../engine/local-fleet.ts';
import { uncoloured, type Line } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { EXIT } from '../process/exit-codes.ts';
import { listenForInterrupt, type InterruptListener } from '../process/listen-for-interrupt.ts';
import { openWorkingDirectory, type WorkingDirectory } from '../process/working-directory.ts';
import { openActivity, type Activity } from './activity.ts';
import { openClusterSource, type ClusterSource } from './cluster-source.ts';
import { openPage } from './open-page.ts';
import { OverviewPoller } from './overview-poller.ts';
import type { StartOptions } from './options.ts';
import { readFleetDocuments, PROVEN_IMAGE, playedRelease, type FleetPlan } from './fleet-plan.ts';
import { FleetPlay, type FleetReport } from './fleet-play.ts';
import { INJECTION_TARGET, openInjection } from './injection.ts';
import type { Play } from './player.ts';
import { createScreen, type Screen } from './screen.ts';
import { writeSecondTerminal } from './second-terminal.ts';
import { fitLines, fitTable, type Room } from './fit-table.ts';
import { judgeSettled, renderTable, tablePart } from './table.ts';

/** The JSON document of `npm start -- --json`, described in docs/reference/json.md. */
export interface StartReport {
  readonly apiVersion: 'rollcall.dev/v1alpha1';
  readonly kind: 'StartReport';
  /** settled; timed-out (with `--exit-when-settled`); interrupted by a signal; unexpected: the fleet's rollout ended in another way than was played. */
  readonly result: 'settled' | 'timed-out' | 'interrupted' | 'unexpected';
  /** The condition that it still waited for when it timed out. */
  readonly waitingFor?: string;
  readonly durationMs: number;
  readonly clusters: readonly ClusterOverview[];
  /** With `--fleet`. */
  readonly fleet?: FleetReport;
}

const REFRESH_MS = 500;
const EXIT_CODES: Readonly<Record<StartReport['result'], number>> = {
  settled: EXIT.ok,
  interrupted: EXIT.ok,
  'timed-out': EXIT.timedOut,
  unexpected: EXIT.failed,
};

/** Runs until settled, timed out or interrupted; returns the exit code. Throws CommandError. */
export async function runStart(
  options: StartOptions,
  modules: readonly CommandModule[],
): Promise<number> {
  const screen = createScreen(options);
  const working = openWorkingDirectory(options.dataDir, (text) => {
    screen.say(text);
  });
  const interrupted = listenForInterrupt(EXIT.failed, () => {
    screen.say('leaving: finishing what was begun (Ctrl-C again to leave at once)');
  });
  try {
    const result = await runIn({ options, modules, working, screen, interrupted });
    if (result === 'interrupted') screen.say(whatIsLeft(options));
    return EXIT_CODES[result];
  } finally {
    working.release();
    interrupted.dispose();
  }
}

interface Run {
  readonly options: StartOptions;
  /** The commands that its page may ask. */
  readonly modules: readonly CommandModule[];
  readonly working: WorkingDirectory;
  readonly screen: Screen;
  readonly interrupted: InterruptListener;
}

async function runIn({
  options,
  modules,
  working,
  screen,
  interrupted,
}: Run): Promise<StartReport['result']> {
  const clock = createSystemClock();
  const activity = openActivity(options, clock, (sentence) => {
    screen.tell(sentence);
  });
  const onProgress = (text: string): void => {
    screen.say(text);
  };
  let failure: Error | undefined;
  const startedAtMs = clock.monotonicMs();
  const directory = working.path;
  const source = await openClusterSource({
    options,
    directory,
    log: activity.log,
    onProgress,
    onFailure: (error) => {
      failure = error;
      interrupted.abort();
    },
  });
  try {
    const engine = await startEngine({
      clusters: source.clusters,
      ...defined({ dataDir: working.data, probeWaitMs: source.probeWaitMs }),
      installationDir: directory,
      ...(options.shouldTakeLease ? { lease: 'take' } : {}),
      log: activity.log,
      metrics: { count: () => undefined, record: () => undefined },
      onProgress,
    });
    const { kubeconfigPath } = source;
    const { aws, installation } = engine;
    const parts = { directory, aws, installation, ...defined({ kubeconfigPath }) };
    for (const line of source.nextSteps(await writeSecondTerminal(parts))) screen.say(line);
    const { signal } = interrupted;
    const closePage = await openPageOf({ options, modules, directory, clock, say: onProgress });
    const end = await watch({ options, source, engine, screen, activity, clock, signal }).finally(
      closePage,
    );
    await engine.stop();
    if (failure !== undefined) throw failure;
    if (options.isJson) {
      const report: StartReport = {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'StartReport',
        ...end,
        durationMs: Math.round(clock.monotonicMs() - startedAtMs),
      };
      process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    }
    return end.result;
  } finally {
    await source.close();
  }
}

/** A start that leaves by itself is looked at by no browser. */
async function openPageOf({
  options: { pagePort: port, shouldExitWhenSettled },
  ...parts
}: Pick<Run, 'options'> & Omit<Parameters<typeof openPage>[0], 'port'>): Promise<
  () => Promise<void>
> {
  return shouldExitWhenSettled ? () => Promise.resolve() : openPage({ ...parts, port });
}

function whatIsLeft({ choice, dataDir, mode }: StartOptions): string {
  if (choice.kind === 'local') {
    return dataDir === undefined
      ? 'ended: the local clusters are gone with all that was in them; --data DIR keeps them for the next start'
      : `ended: clusters, queues and tables stay in ${dataDir}; the next start with it goes on from there`;
  }
  if (mode === 'observe') return 'ended: no workload of the cluster was changed';
  return 'ended: the pods stay as they are, and Rollcall replaces none of them until it runs again';
}

interface Watching {
  readonly options: StartOptions;
  readonly source: ClusterSource;
  readonly engine: Engine;
  readonly screen: Screen;
  readonly activity: Activity;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type End = Pick<StartReport, 'result' | 'waitingFor' | 'clusters' | 'fleet'>;

/** Redraws until there is a reason to leave. */
async function watch(watching: Watching): Promise<End> {
  const { options, source, engine, screen, clock } = watching;
  const say = (text: string): void => {
    screen.say(text);
  };
  const play = await openPlay({ options, source, engine, clock, say });
  try {
    const end = await watchPlay(watching, play);
    const fleet = play?.report?.();
    if (fleet === undefined) return end;
    const isUnexpected = end.result === 'settled' && !fleet.isAsPlanned;
    return { ...end, ...(isUnexpected ? { result: 'unexpected' } : {}), fleet };
  } finally {
    await play?.idle?.();
  }
}

async function watchPlay(watching: Watching, play: Play<FleetReport> | undefined): Promise<End> {
  const { options, source, engine, screen, activity, clock, signal } = watching;
  const startedAtMs = clock.monotonicMs();
  const poller = new OverviewPoller(engine, clock);
  let changedAtMs = startedAtMs;
  let last: unknown;
  let standing: readonly string[] = [];
  for (;;) {
    // A caller that leaves by it reads it anew.
    const isLast = signal.aborted || options.shouldExitWhenSettled;
    const overview = isLast ? poller.fresh() : poller.latest();
    const [clusters, nodes] = await Promise.all([overview, source.readNodes()]);
    if (!isDeepStrictEqual([clusters, nodes], last)) {
      last = [clusters, nodes];
      changedAtMs = clock.monotonicMs();
    }
    const room = screen.room();
    if (room !== undefined) screen.show(fitted({ play, clusters, nodes, activity }, room));
    standing = tellOutages(clusters, standing, screen);
    if (signal.aborted) return { result: 'interrupted', clusters };
    const quietMs = clock.monotonicMs() - changedAtMs;
    const unsettled = whatIsAwaited(clusters, quietMs) ?? awaitedNode(nodes);
    const waitingFor = await playOn(play, clusters, unsettled);
    // A play that just ended has more to show than the look before.
    if (waitingFor === undefined) screen.conclude(shownLines(play, clusters, nodes));
    if (options.shouldExitWhenSettled) {
      if (waitingFor === undefined) return { result: 'settled', clusters };
      if (clock.monotonicMs() - startedAtMs > options.settleTimeoutMs) {
        screen.conclude(shownLines(play, clusters, nodes));
        screen.say(`not settled in time; still waiting for ${waitingFor}`);
        return { result: 'timed-out', waitingFor, clusters };
      }
    }
    await clock.sleep(REFRESH_MS, signal);
  }
}

/** Outages that make the table untrue, where no table shows them: each line once, when it begins. */
function tellOutages(
  clusters: readonly ClusterOverview[],
  told: readonly string[],
  screen: Screen,
): readonly string[] {
  const lines = clusters.flatMap(({ outages }) => outageLines(outages).map(uncoloured));
  for (const line of lines) if (!told.includes(line)) screen.tell(line);
  return lines;
}

/** A rollout that was halted leaves pods that never settle: the end of a play is what is waited for. */
async function playOn(
  play: Play<FleetReport> | undefined,
  clusters: readonly ClusterOverview[],
  unsettled: string | undefined,
): Promise<string | undefined> {
  return play === undefined
    ? unsettled
    : play.advance({ clusters, isSettled: unsettled === undefined });
}

function shownLines(
  play: Play<FleetReport> | undefined,
  clusters: readonly ClusterOverview[],
  nodes: readonly NodeCounts[],
): readonly Line[] {
  const lines = play?.lines?.();
  if (lines !== undefined) return lines;
  return clusters.flatMap((one) => renderTable(one, countsOf(one, nodes)));
}

function countsOf(
  { cluster }: ClusterOverview,
  nodes: readonly NodeCounts[],
): NodeCounts | undefined {
  return nodes.find((one) => one.cluster === cluster);
}

interface Shown {
  readonly play: Play<FleetReport> | undefined;
  readonly clusters: readonly ClusterOverview[];
  readonly nodes: readonly NodeCounts[];
  readonly activity: Activity;
}

function fitted({ play, clusters, nodes, activity }: Shown, room: Room): readonly Line[] {
  const recent = activity.recent();
  const lines = play?.lines?.();
  if (lines !== undefined) return fitLines([...lines, ...recent], room);
  const parts = clusters.map((one) => tablePart(one, countsOf(one, nodes), room.columns));
  return fitTable(parts, recent, room);
}

function whatIsAwaited(clusters: readonly ClusterOverview[], quietMs: number): string | undefined {
  for (const cluster of clusters) {
    const settled = judgeSettled(cluster, quietMs);
    if (settled.kind === 'busy') return `${cluster.cluster}: ${settled.waitingFor}`;
  }
  return undefined;
}

function awaitedNode(nodes: readonly NodeCounts[]): string | undefined {
  const waiting = nodes.find(({ awaited }) => awaited !== undefined);
  return waiting && `${waiting.cluster}: node ${waiting.awaited ?? ''} to be Ready`;
}

type PlayParts = Pick<Watching, 'options' | 'source' | 'engine' | 'clock'> & {
  readonly say: (text: string) => void;
};

const FLEET_EXAMPLE = 'examples/fleet/fleet-agent.yaml';
const FLEET_FUNCTION = 'fleet';
const CANARY_CLUSTER = 'local-1';

/** The play besides showing clusters; undefined: none. */
async function openPlay(parts: PlayParts): Promise<Play<FleetReport> | undefined> {
  const { choice } = parts.options;
  if (choice.kind !== 'local') return undefined;
  const { fleet, inject: failure } = choice;
  if (fleet !== undefined) return openFleetPlay(fleet, parts);
  const { patchDaemonSet } = parts.source;
  if (failure === undefined || patchDaemonSet === undefined) return undefined;
  return openInjection({
    failure,
    patch: (body) => patchDaemonSet(INJECTION_TARGET, body),
    say: parts.say,
  });
}

async function openFleetPlay(
  plan: FleetPlan,
  { source, engine, clock, say }: PlayParts,
): Promise<Play<FleetReport>> {
  const reader = createFleetReader();
  const release = playedRelease(plan.inject);
  const { onHalt } = plan;
  const file = packageFile(FLEET_EXAMPLE);
  const documents = await readFleetDocuments(file, release, { onHalt, reader });
  const { namespace, name } = documents.played.fleet;
  const place = { cluster: CANARY_CLUSTER, namespace, name };
  return new FleetPlay({
    plan,
    documents,
    compareMs: release.compareMs,
    engine,
    turn: () => engine.aws.fireSchedule(FLEET_FUNCTION),
    replacePod: async () => source.deleteOldestPod?.(place, PROVEN_IMAGE),
    reader,
    clock,
    random: createSystemRandom(),
    say,
  });
}
