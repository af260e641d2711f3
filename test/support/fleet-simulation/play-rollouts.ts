/**
 * A day of a fleet by its seed: four releases, one of them bad in some clusters, a third of the clusters offline for the day, and whatever
 * else happens to fleets. In the end nobody interferes any more, and a last release has to reach everybody.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { Dice, mixSeed } from '../simulation/dice.ts';
import { FleetSite, KIND_SITE, type SiteFaults } from './fleet-site.ts';
import type { ClusterTraits, Harm, ModelCluster } from './model-cluster.ts';
import type { ApplyFate } from './model-ports.ts';

/** How large, and how unkind. */
export interface PlaySize {
  readonly clusters: number;
  readonly hasFaults: boolean;
  /** How often the schedule comes. */
  readonly turnMs: number;
}

/** What came of it. */
export interface Played {
  readonly broken: readonly string[];
  readonly halts: number;
  readonly writesPerCluster: number;
  readonly doneCallsPerHour: number;
  readonly told: readonly string[];
}

const MINUTE_MS = 60_000;
const KERNELS = ['5.10', '5.15', '6.1', '6.6'];
const PROVIDERS = ['eks', 'gke', 'metal'];

function traitsOf(dice: Dice, index: number): ClusterTraits {
  const kernel = dice.pick(KERNELS);
  const provider = dice.pick(PROVIDERS);
  // Of each size as many: one node to five thousand.
  const nodes = Math.round(Math.exp(dice.draw() * Math.log(5000)));
  const mode = dice.chance(0.05) ? 'observe' : dice.chance(0.2) ? 'copilot' : 'takeover';
  return {
    id: `c${String(index).padStart(4, '0')}`,
    labels: { kernel, provider, site: `s${String(index)}` },
    mode,
    nodes: Math.max(1, nodes),
    canaryMs: dice.between(2, 10) * MINUTE_MS,
    nodesPerMinute: dice.between(20, 200) * Math.max(1, nodes / 500),
    lagMs: dice.pick([0, 0, 30_000, 2 * MINUTE_MS]),
  };
}

function faultsOf(dice: Dice): SiteFaults {
  const fates: readonly ApplyFate[] = ['lost', 'unheard', 'late'];
  return {
    refused: dice.pick([0, 0.0005, 0.003]),
    unheard: dice.pick([0, 0.002, 0.02]),
    dies: dice.pick([0, 0.0002, 0.001]),
    freezes: dice.pick([0, 0.0005, 0.002]),
    never: dice.pick([0, 0.1, 0.4]),
    twice: dice.pick([0, 0.1, 0.5]),
    skewMs: dice.pick([0, 2000, 20_000]),
    fateOf: (own) => (own.chance(0.1) ? own.pick(fates) : 'answered'),
  };
}

function specOf(dice: Dice): JsonObject {
  const first: JsonObject = dice.chance(0.5)
    ? { name: 'canary', clusters: dice.between(1, 3), nodes: 1 }
    : { name: 'canary', clusters: dice.between(1, 3) };
  return {
    placement: { all: true },
    strategy: {
      stages: [
        first,
        { name: 'metal', clusterSelector: { matchLabels: { provider: 'metal' } }, clusters: '20%' },
        {
          name: 'early',
          clusters: '10%',
          approval: dice.pick(['none', 'none', 'before', 'after']),
        },
      ],
      soak: dice.pick(['10m', '30m']),
      maxConcurrency: dice.pick(['25%', '10%', 5]),
      maxFailures: dice.pick([0, '5%']),
      onHalt: dice.pick(['halt', 'rollback']),
    },
  };
}

/** A harm, where it strikes. */
function harmOf(dice: Dice): (cluster: ModelCluster) => Harm | undefined {
  const harm: Harm = dice.pick(['start-failure', 'late-restarts', 'silence']);
  if (dice.chance(0.3)) return () => harm;
  const kernel = dice.pick(KERNELS);
  return ({ traits }) => (traits.labels['kernel'] === kernel ? harm : undefined);
}

/** The day. */
class FleetDay {
  readonly site: FleetSite;
  readonly #dice: Dice;
  readonly #hasFaults: boolean;
  readonly #spec: JsonObject;
  readonly #turnsPerHour: number;
  readonly #hoursEach: number;

  constructor(seed: number, { clusters, hasFaults, turnMs }: PlaySize) {
    const dice = new Dice(mixSeed(seed, 'fleet'));
    const traits = Array.from({ length: clusters }, (_, index) => traitsOf(dice, index));
    this.#dice = dice;
    this.#hasFaults = hasFaults;
    this.site = new FleetSite(traits, new Dice(mixSeed(seed, 'faults')), KIND_SITE);
    this.site.turnMs = turnMs;
    this.#hoursEach = clusters > 100 ? 8 : 5;
    this.#turnsPerHour = 3_600_000 / turnMs;
    this.#spec = specOf(dice);
  }

  async play(): Promise<Played> {
    const { site } = this;
    await site.open();
    await this.#release('agent:1');
    await site.until('the first release is out', () => this.#isHeldOrDone());
    if (this.#hasFaults) site.faults = faultsOf(this.#dice);
    const offline = site.clusters.filter(() => this.#dice.chance(0.3));
    for (const cluster of offline) cluster.isOffline = true;
    const isHarmed = harmOf(this.#dice);
    for (const cluster of site.clusters) {
      cluster.harmOf = (image) => (image === 'agent:3' ? isHarmed(cluster) : undefined);
    }
    await this.#hours(this.#hoursEach, 'agent:2');
    await this.#hours(this.#hoursEach, 'agent:3');
    await this.#hours(this.#hoursEach, 'agent:4');
    for (const cluster of offline) cluster.isOffline = false;
    return this.#end();
  }

  async #release(image: string): Promise<void> {
    await this.site.release(image, this.#spec);
  }

  #isHeldOrDone(doesAgree = true): boolean {
    const kind = this.site.record?.gate.kind;
    if (doesAgree && (kind === 'approval' || kind === 'no-evidence'))
      void this.site.order('approve');
    return kind === 'done' || kind === 'breach' || kind === 'returned';
  }

  async #hours(hours: number, image: string): Promise<void> {
    await this.#release(image);
    for (let turn = 0; turn < hours * this.#turnsPerHour; turn += 1) {
      if (this.#dice.chance(0.04)) await this.#somethingHappens();
      this.#isHeldOrDone();
      await this.site.turn();
    }
  }

  async #somethingHappens(): Promise<void> {
    const { site } = this;
    const cluster = this.#dice.pick(site.clusters);
    const { nowMs } = site;
    const deeds: readonly (() => unknown)[] = [
      () => site.order('pause'),
      () => site.order('resume'),
      () => site.order('resume'),
      () => (this.#dice.chance(0.3) ? site.order('undo') : undefined),
      () => {
        const note = { by: 'ann', why: 'incident', atMs: nowMs };
        site.freezes.seed({
          daemonSets: this.#dice.chance(0.3) ? { 'monitoring/agent': note } : {},
        });
      },
      () =>
        site.register(cluster, { labels: { ...cluster.traits.labels, site: `m${String(nowMs)}` } }),
      () => site.register(cluster, { isFrozen: this.#dice.chance(0.5) }),
      async () => {
        if (cluster.isOffline) return;
        cluster.rebuild(nowMs);
        await site.register(cluster);
      },
      () => {
        const image = `agent:${String(this.#dice.between(1, 2))}`;
        cluster.rival = { image, delayMs: 30_000, turnsLeft: this.#dice.between(1, 4) };
      },
      () => {
        cluster.nodes = cluster.nodes === 0 ? cluster.traits.nodes : 0;
      },
      () => {
        cluster.isUnclear = !cluster.isUnclear;
      },
      () => this.#outage(),
    ];
    await this.#dice.pick(deeds)();
  }

  /** Nobody is heard for most of an hour: the way from the clusters to us is cut. */
  async #outage(): Promise<void> {
    const { site } = this;
    const cut = site.clusters.filter(({ isOffline }) => !isOffline);
    for (const cluster of cut) cluster.isOffline = true;
    for (let turn = 0; turn < this.#turnsPerHour; turn += 1) {
      this.#isHeldOrDone(false);
      await site.turn();
    }
    for (const cluster of cut) cluster.isOffline = false;
  }

  /** Nobody interferes any more. */
  async #end(): Promise<Played> {
    const { site } = this;
    site.faults = KIND_SITE;
    site.freezes.seed({ daemonSets: {} });
    for (const cluster of site.clusters) {
      cluster.isUnclear = false;
      cluster.isSilenced = false;
      cluster.harmOf = () => undefined;
      cluster.rival = undefined;
      cluster.nodes = cluster.traits.nodes;
      await site.register(cluster, { isFrozen: false });
    }
    if (site.record?.orders.paused !== undefined) await site.order('resume');
    for (let turn = 0; turn < 2 * this.#turnsPerHour; turn += 1) await site.turn();
    const isEvident = await this.#isLastOut();
    const { writes, calls } = site;
    for (let turn = 0; turn < this.#turnsPerHour; turn += 1) await site.turn();
    return {
      broken: [...site.audit.broken, ...isEvident],
      halts: site.told.filter((text) => text.startsWith('halted')).length,
      writesPerCluster: writes / site.clusters.length,
      doneCallsPerHour: site.calls - calls,
      told: site.told,
    };
  }

  async #isLastOut(): Promise<readonly string[]> {
    const { site } = this;
    await this.#release('agent:5');
    const isQuiet = (): boolean => {
      this.#isHeldOrDone();
      const { record } = site;
      return site.image === 'agent:5' && record?.gate.kind === 'done' && record.ring.count === 0;
    };
    try {
      await site.until('the last release is out', isQuiet, 48 * this.#turnsPerHour);
    } catch (error) {
      return [`liveness: ${String(error)}`];
    }
    const left = site.clusters.filter(
      ({ traits, image, isThrough }) =>
        traits.mode !== 'observe' && (image !== 'agent:5' || !isThrough),
    );
    return left.map(({ id, image }) => `liveness: ${id} has ${String(image)} when all is done`);
  }
}

/** Plays a seed. */
export async function playRollouts(seed: number, size: PlaySize): Promise<Played> {
  return new FleetDay(seed, size).play();
}
