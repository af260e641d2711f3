/**
 * Plays the rollout of one FleetDaemonSet over local clusters: what is proven everywhere first, then a release in stages, which goes
 * through, or is halted by what was injected.
 *
 * It applies as `rollcall fleet apply` does, and everything else is done by the function `fleet`, whose schedule it fires more often
 * than once a minute. Each step waits for what the function has recorded. It edits no cluster; where a failure can only be seen in
 * traffic, it has a pod of the proven release replaced now and then, as an autoscaler would.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { applyFleet } from '../../../app/fleet/apply-fleet.ts';
import { listClusters, tallyStages } from '../../../app/fleet/rollout/list-clusters.ts';
import type { FleetClusterLine } from '../../../app/fleet/rollout/list-clusters.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { fleetPhaseOf, summarizeFleet } from '../../../core/fleet/told/describe-fleet.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../../engine/overview.ts';
import type { FleetReader } from '../../../ports/fleet-reader.ts';
import { plainText, renderTextTable } from '../../command-line/text-table.ts';
import { CommandError, EXIT } from '../../process/exit-codes.ts';
import type { FleetDocuments, ReadFleet } from './fleet-documents.ts';
import { endingOf, isAsPlanned } from './fleet-plan.ts';
import type { FleetEnding, FleetPlan } from './fleet-plan.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { shownStages } from '../../../app/fleet/rollout/fleet-status.ts';
import { stageLines } from '../../rollout/render-status.ts';

/** What a play needs. */
export interface FleetPlayOptions {
  readonly plan: FleetPlan;
  readonly documents: FleetDocuments;
  /** How long the canary's cluster has traffic before the release is applied; 0: it has none. */
  readonly compareMs: number;
  readonly engine: Pick<Engine, 'fleets' | 'rollouts' | 'registry' | 'view'>;
  /** One turn of the function `fleet`. Never rejects. */
  readonly turn: () => Promise<void>;
  /** Replaces a pod of the proven release in the canary's cluster. Never rejects. */
  readonly replacePod: () => Promise<unknown>;
  readonly reader: FleetReader;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly random: Random;
  readonly say: (text: string) => void;
}

/** Between turns of the function, and between pods that are replaced. */
const TURN_EVERY_MS = 1_000;
const REPLACE_EVERY_MS = 8_000;
const COMPARING = 'traffic to compare with';

type Progress =
  | { readonly step: 'settle' }
  | { readonly step: 'prove'; readonly generation: number }
  | { readonly step: 'compare'; readonly sinceMs: number }
  | { readonly step: 'roll'; readonly generation: number }
  | { readonly step: 'end'; readonly ending: FleetEnding; readonly isAsPlanned: boolean };

/** One play, from start to end. */
export class FleetPlay {
  readonly #options: FleetPlayOptions;
  readonly #name: string;
  readonly #touched: TouchedNodes;
  readonly #turns: Paced;
  readonly #traffic: Paced;
  #progress: Progress = { step: 'settle' };
  #generation = 0;
  #record: FleetRecord | undefined;
  #clusters: readonly FleetClusterLine[] = [];

  constructor(options: FleetPlayOptions) {
    const { fleet } = options.documents.played;
    this.#options = options;
    this.#name = formatFleetKey(fleet);
    this.#touched = new TouchedNodes(fleet);
    this.#turns = new Paced(TURN_EVERY_MS, options.turn);
    this.#traffic = new Paced(REPLACE_EVERY_MS, options.replacePod);
  }

  /** Looks, and does what is due. What it waits for; undefined: the rollout ended. Rejects when a table fails. */
  async advance(
    overviews: readonly ClusterOverview[],
    isSettled: boolean,
  ): Promise<string | undefined> {
    await this.#look(overviews);
    const progress = this.#progress;
    switch (progress.step) {
      case 'settle':
        return isSettled ? this.#prove() : 'the clusters to settle';
      case 'prove':
        return this.#watchProof(progress.generation);
      case 'compare':
        return this.#compare(progress.sinceMs);
      case 'roll':
        return this.#watch(progress.generation);
      case 'end':
        return undefined;
    }
  }

  /** Its lines of the table. */
  lines(overviews: readonly ClusterOverview[]): readonly string[] {
    const record = this.#record;
    if (record === undefined) return [`fleet ${this.#name}  waits for the clusters to settle`];
    const nowMs = this.#options.clock.nowMs();
    return renderFleet({ record, clusters: this.#clusters, overviews, nowMs });
  }

  report(): FleetReport {
    const { namespace, name } = this.#options.documents.played.fleet;
    const record = this.#record;
    const progress = this.#progress;
    const isOver = progress.step === 'end';
    return {
      namespace,
      name,
      generation: this.#generation,
      ...(isOver ? { ending: progress.ending } : {}),
      isAsPlanned: isOver && progress.isAsPlanned,
      ...(record === undefined ? {} : { summary: summarizeFleet(record), record }),
      clusters: this.#clusters,
      touchedNodes: this.#touched.counts(),
    };
  }

  /** Resolves when nothing of it is under way. */
  async idle(): Promise<void> {
    await Promise.all([this.#turns.idle(), this.#traffic.idle()]);
  }

  async #look(overviews: readonly ClusterOverview[]): Promise<void> {
    const { engine, clock, documents } = this.#options;
    if (this.#generation === 0) return;
    this.#turns.run(clock.monotonicMs());
    this.#record = await engine.rollouts.readRecord(documents.played.fleet);
    this.#clusters = this.#record === undefined ? [] : await listClusters(this.#record, engine);
    const { step } = this.#progress;
    const isOfIt = this.#record?.release.generation === this.#generation;
    // Until the function has begun with it, clusters are told as of what was proven.
    if (step === 'roll' && isOfIt) this.#touched.note(overviews, this.#clusters);
  }

  async #prove(): Promise<string> {
    const generation = await this.#apply(this.#options.documents.proven);
    this.#say(`generation ${String(generation)} goes to all clusters, to be proven`);
    this.#progress = { step: 'prove', generation };
    return this.#itsEnd();
  }

  async #watchProof(generation: number): Promise<string | undefined> {
    const { compareMs, clock, plan } = this.#options;
    const ending = endingOf(this.#record, generation, plan);
    if (ending === undefined) return this.#itsEnd();
    // What should have been proven was not: nothing more can be shown.
    if (ending !== 'completed') return this.#end(ending, false);
    if (compareMs === 0) return this.#roll();
    const seconds = String(Math.round(compareMs / 1000));
    this.#say(`the canary's cluster has traffic for ${seconds} s, to compare with`);
    this.#progress = { step: 'compare', sinceMs: clock.monotonicMs() };
    return COMPARING;
  }

  async #compare(sinceMs: number): Promise<string> {
    const { compareMs, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#traffic.run(nowMs);
    return nowMs - sinceMs < compareMs ? COMPARING : this.#roll();
  }

  async #roll(): Promise<string> {
    const { inject } = this.#options.plan;
    const generation = await this.#apply(this.#options.documents.played);
    const kind = inject === undefined ? 'a good release' : `a release that fails: ${inject}`;
    this.#say(`generation ${String(generation)} is rolled out in stages: ${kind}`);
    this.#progress = { step: 'roll', generation };
    return this.#itsEnd();
  }

  #watch(generation: number): string | undefined {
    const { plan, compareMs, clock } = this.#options;
    if (compareMs > 0) this.#traffic.run(clock.monotonicMs());
    const record = this.#record;
    const ending = endingOf(record, generation, plan);
    if (ending === undefined || record === undefined) return this.#itsEnd();
    return this.#end(ending, isAsPlanned(ending, record, plan));
  }

  #end(ending: FleetEnding, isPlanned: boolean): undefined {
    const summary = this.#record === undefined ? '' : plainText(summarizeFleet(this.#record));
    this.#say(`${ending}: ${summary}${isPlanned ? '' : ' (not what was to be shown)'}`);
    this.#progress = { step: 'end', ending, isAsPlanned: isPlanned };
    return undefined;
  }

  #itsEnd(): string {
    return `the rollout of ${this.#name} to end`;
  }

  async #apply({ fleet, document }: ReadFleet): Promise<number> {
    const { engine, reader, clock, random } = this.#options;
    const application = { fleet, document, by: 'npm start', nowMs: clock.nowMs() };
    const applied = await applyFleet(application, { ...engine, reader, random });
    if (applied.kind === 'refused') {
      throw new CommandError({
        message: `The FleetDaemonSet ${this.#name} was refused.`,
        remedy: 'Was it changed from a second terminal? Start again.',
        exitCode: EXIT.failed,
      });
    }
    this.#generation = applied.generation;
    return applied.generation;
  }

  #say(text: string): void {
    this.#options.say(`fleet: ${this.#name} ${text}`);
  }
}

/** The part of the document. */
export interface FleetReport {
  readonly namespace: string;
  readonly name: string;
  /** Of what was applied last; 0: nothing was. */
  readonly generation: number;
  /** How its rollout ended; absent: it did not. */
  readonly ending?: FleetEnding;
  /** True if that is what was played: with an injected failure, a halt in the first ring. */
  readonly isAsPlanned: boolean;
  /** In one line. */
  readonly summary?: string;
  /** As the function recorded it; absent: nothing was applied. */
  readonly record?: FleetRecord;
  readonly clusters: readonly FleetClusterLine[];
  /** The most nodes of each cluster that were seen to run the release of the stages; clusters that never had it are left out. */
  readonly touchedNodes: Readonly<Record<string, number>>;
}

/** Work in the background: it begins again so long after it began, and never beside itself. */
export class Paced {
  readonly #everyMs: number;
  readonly #work: () => Promise<unknown>;
  #dueMs = 0;
  #running: Promise<unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(everyMs: number, work: () => Promise<unknown>) {
    this.#everyMs = everyMs;
    this.#work = work;
  }

  /** Begins it if it is due, and not under way. Throws what the last one failed with. */
  run(nowMs: number): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#running !== undefined || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + this.#everyMs;
    this.#running = this.#work()
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Resolves when none is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }
}

const GIVEN: ReadonlySet<FleetClusterLine['phase']> = new Set(['rolling', 'well', 'failed']);
/** The DaemonSet that was proven first, as it was created. */
const FIRST_GENERATION = 1;

/** The most that was seen. */
export class TouchedNodes {
  readonly #key: FleetKey;
  readonly #most = new Map<string, number>();

  constructor({ namespace, name }: FleetKey) {
    this.#key = { namespace, name };
  }

  /** Looks once more. */
  note(overviews: readonly ClusterOverview[], clusters: readonly FleetClusterLine[]): void {
    const given = new Set<string>(
      clusters.filter(({ phase }) => GIVEN.has(phase)).map(({ cluster }) => cluster),
    );
    for (const { cluster, daemonSets } of overviews) {
      if (!given.has(cluster)) continue;
      const daemonSet = daemonSets.find(
        ({ namespace, name }) => namespace === this.#key.namespace && name === this.#key.name,
      );
      const { generation = 0, observedGeneration, upToDate = 0 } = daemonSet ?? {};
      const isOfIt = generation > FIRST_GENERATION && observedGeneration === generation;
      const before = this.#most.get(cluster) ?? 0;
      this.#most.set(cluster, Math.max(before, isOfIt ? upToDate : 0));
    }
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#most);
  }
}

interface ShownFleet {
  readonly record: FleetRecord;
  readonly clusters: readonly FleetClusterLine[];
  readonly overviews: readonly ClusterOverview[];
  readonly nowMs: number;
}

const CLUSTER_HEADINGS = ['CLUSTER', 'STAGE', 'STATE', 'NODES', 'READY', 'UP-TO-DATE', 'NOTE'];

/** Its lines, without a trailing newline. */
export function renderFleet({ record, clusters, overviews, nowMs }: ShownFleet): string[] {
  const { namespace, name, release } = record;
  const title = `fleet ${namespace}/${name}  generation ${String(release.generation)}  ${fleetPhaseOf(record)}`;
  const rows = overviews.map((overview) => clusterRow(overview, record, clusters));
  return [
    plainText(title),
    `  ${plainText(summarizeFleet(record))}${soakLeft(record, nowMs)}`,
    ...stageLines(tallyStages(shownStages(record), clusters)).map((line) => `  ${line}`),
    ...renderTextTable(CLUSTER_HEADINGS, rows),
  ];
}

function soakLeft({ gate }: FleetRecord, nowMs: number): string {
  if (gate.kind !== 'soaking') return '';
  const seconds = Math.max(0, Math.ceil((gate.untilMs - nowMs) / 1000));
  return `, ${String(seconds)} s left`;
}

function clusterRow(
  { cluster, daemonSets, isViewComplete }: ClusterOverview,
  record: FleetRecord,
  clusters: readonly FleetClusterLine[],
): readonly string[] {
  const { namespace, name } = record;
  const line = clusters.find((one) => one.cluster === cluster);
  const daemonSet = daemonSets.find((one) => one.namespace === namespace && one.name === name);
  const count = (of: 'desired' | 'ready' | 'upToDate'): string =>
    daemonSet === undefined ? '-' : String(daemonSet[of]);
  return [
    cluster,
    line?.place ?? '-',
    line?.phase ?? '-',
    count('desired'),
    count('ready'),
    count('upToDate'),
    isViewComplete ? noteOf(line, daemonSet) : 'view incomplete',
  ];
}

/** Why it failed; else what its own rollout waits for. */
function noteOf(
  line: FleetClusterLine | undefined,
  daemonSet: DaemonSetOverview | undefined,
): string {
  if (line?.failure !== undefined) return `${line.failure.cause}: ${line.failure.message}`;
  const { rollout } = daemonSet ?? {};
  if (rollout === undefined || rollout.phase === 'Done') return '';
  return `${rollout.phase}: ${rollout.summary}`;
}
