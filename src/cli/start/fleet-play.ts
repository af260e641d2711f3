/**
 * Plays the rollout of one FleetDaemonSet over local clusters: what is good everywhere first, then a release in stages, which goes
 * through, or is halted by what was injected.
 *
 * It applies as `rollcall fleet apply` does and shows what `rollcall fleet status` shows; everything else is done by the function
 * `fleet`, whose schedule it fires more often than once a minute. It edits no cluster; where a failure can only be seen in
 * traffic, it has a pod of the good release replaced now and then, as an autoscaler would.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { applyFleet } from '../../app/fleet/apply-fleet.ts';
import { findFleetRollout } from '../../app/fleet/rollout/find-fleet-rollout.ts';
import { fleetStatusOf, type FleetStatus } from '../../app/fleet/rollout/fleet-status.ts';
import { listClusters, type FleetClusterLine } from '../../app/fleet/rollout/list-clusters.ts';
import { formatFleetKey, type FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import { summarizeFleet } from '../../core/fleet/told/describe-fleet.ts';
import { NO_FREEZE } from '../../core/may-act/freeze.ts';
import type { Engine } from '../../engine/engine.ts';
import type { ClusterOverview } from '../../engine/overview.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type { Line } from '../command-line/colour.ts';
import { plainText } from '../command-line/text-table.ts';
import { CommandError, EXIT } from '../process/exit-codes.ts';
import { renderFleetStatus } from '../rollout/render-status.ts';
import { playSteps, type Play, type Seen, type Went } from './player.ts';
import type { FleetDocuments, ReadFleet, FleetEnding, FleetPlan } from './fleet-plan.ts';
import { endingOf, isAsPlanned } from './fleet-plan.ts';

export interface FleetPlayOptions {
  readonly plan: FleetPlan;
  readonly documents: FleetDocuments;
  /** How long the canary's cluster has traffic before the release is applied; 0: it has none. */
  readonly compareMs: number;
  readonly engine: Pick<Engine, 'fleets' | 'rollouts' | 'registry' | 'view'>;
  /** One turn of the function `fleet`. Never rejects. */
  readonly turn: () => Promise<void>;
  /** Replaces a pod of the good release in the canary's cluster. Never rejects. */
  readonly replacePod: () => Promise<unknown>;
  readonly reader: FleetReader;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly random: Random;
  readonly say: (text: string) => void;
}

/** Between turns of the function, and between pods that are replaced. */
const TURN_EVERY_MS = 1_000;
const REPLACE_EVERY_MS = 8_000;

export class FleetPlay implements Play<FleetReport> {
  readonly #options: FleetPlayOptions;
  readonly #name: string;
  readonly #touched: TouchedNodes;
  readonly #turns: Paced;
  readonly #traffic: Paced;
  readonly #play: Play['advance'];
  #generation = 0;
  #hasTraffic = false;
  #trafficSinceMs = 0;
  /** True from when the release of the stages was applied. */
  #isRolling = false;
  #status: FleetStatus | undefined;
  #clusters: readonly FleetClusterLine[] = [];
  #end: { readonly ending: FleetEnding; readonly isAsPlanned: boolean } | undefined;

  constructor(options: FleetPlayOptions) {
    const { documents, plan, compareMs, clock } = options;
    const { fleet } = documents.played;
    this.#options = options;
    this.#name = formatFleetKey(fleet);
    this.#touched = new TouchedNodes(fleet);
    this.#turns = new Paced(TURN_EVERY_MS, options.turn);
    this.#traffic = new Paced(REPLACE_EVERY_MS, options.replacePod);
    const ending = (): FleetEnding | undefined => endingOf(this.#record, this.#generation, plan);
    const itsEnd = `the rollout of ${this.#name} to end`;
    this.#play = playSteps([
      {
        title: 'the clusters to settle',
        isDue: (seen) => seen.isSettled,
        act: () => this.#apply(documents.proven, 'goes to all clusters, to become good'),
      },
      { title: itsEnd, isDue: () => ending() !== undefined, act: () => this.#compare(ending()) },
      {
        title: 'traffic to compare with',
        isDue: () => clock.monotonicMs() - this.#trafficSinceMs >= compareMs,
        act: () => {
          const { inject } = plan;
          const kind = inject === undefined ? 'a good release' : `a release that fails: ${inject}`;
          this.#isRolling = true;
          return this.#apply(documents.played, `is rolled out in stages: ${kind}`);
        },
      },
      {
        title: itsEnd,
        isDue: () => ending() !== undefined,
        act: () => this.#conclude(ending(), (end, record) => isAsPlanned(end, record, plan)),
      },
    ]);
  }

  /** Looks, and does what is due. What it waits for; undefined: the rollout ended. Rejects when a table fails. */
  async advance(seen: Seen): Promise<string | undefined> {
    await this.#look(seen.clusters);
    return this.#play(seen);
  }

  lines(): readonly Line[] {
    const status = this.#status;
    if (status === undefined) return [`fleet ${this.#name}  waits for the clusters to settle`];
    const clusters = { shown: this.#clusters, all: this.#clusters };
    return renderFleetStatus(status, clusters, this.#options.clock.nowMs());
  }

  report(): FleetReport {
    const { namespace, name } = this.#options.documents.played.fleet;
    const record = this.#record;
    return {
      ...{ namespace, name, generation: this.#generation },
      ...{ isAsPlanned: false, ...this.#end },
      ...(record === undefined ? {} : { summary: summarizeFleet(record), record }),
      clusters: this.#clusters,
      touchedNodes: this.#touched.counts(),
    };
  }

  /** Resolves when nothing of it is under way. */
  async idle(): Promise<void> {
    await Promise.all([this.#turns.idle(), this.#traffic.idle()]);
  }

  get #record(): FleetRecord | undefined {
    return this.#status?.record;
  }

  async #look(overviews: readonly ClusterOverview[]): Promise<void> {
    const { engine, clock, documents } = this.#options;
    if (this.#generation === 0) return;
    const isOver = this.#end !== undefined;
    // The function goes on after the end: an operator may order something from a second terminal.
    this.#turns.run(clock.monotonicMs());
    if (this.#hasTraffic && !isOver) this.#traffic.run(clock.monotonicMs());
    const found = await findFleetRollout(documents.played.fleet, engine);
    if (found.kind === 'refused') return;
    const at = { standing: {}, freeze: NO_FREEZE, nowMs: clock.nowMs() };
    this.#status = fleetStatusOf(found, at);
    this.#clusters = this.#record === undefined ? [] : await listClusters(this.#record, engine);
    const isOfIt = this.#record?.release.generation === this.#generation;
    // Until the function has begun with it, clusters are told as of what was good.
    if (this.#isRolling && isOfIt && !isOver) this.#touched.note(overviews, this.#clusters);
  }

  #compare(proof: FleetEnding | undefined): Went {
    const { compareMs, clock } = this.#options;
    // The first release was not proven: nothing more can be shown.
    if (proof !== 'completed') return this.#conclude(proof, () => false);
    if (compareMs === 0) return 'go-on';
    const seconds = String(Math.round(compareMs / 1000));
    this.#say(`the canary's cluster has traffic for ${seconds} s, to compare with`);
    this.#hasTraffic = true;
    this.#trafficSinceMs = clock.monotonicMs();
    return 'look-again';
  }

  #conclude(
    ending: FleetEnding | undefined,
    isPlanned: (ending: FleetEnding, record: FleetRecord) => boolean,
  ): Went {
    const record = this.#record;
    if (ending === undefined || record === undefined) return 'over';
    this.#end = { ending, isAsPlanned: isPlanned(ending, record) };
    const isOff = this.#end.isAsPlanned ? '' : ' (not what was to be shown)';
    this.#say(`${ending}: ${plainText(summarizeFleet(record))}${isOff}`);
    return 'over';
  }

  async #apply({ fleet, document }: ReadFleet, what: string): Promise<Went> {
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
    this.#say(`generation ${String(applied.generation)} ${what}`);
    return 'look-again';
  }

  #say(text: string): void {
    this.#options.say(`fleet: ${this.#name} ${text}`);
  }
}

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
