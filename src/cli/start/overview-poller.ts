/**
 * The overview that `npm start` draws: read again only when something may have moved it.
 *
 * Everything that moves it is written by a function of this engine, or by a command, which hints the keys of its cluster
 * and so has functions run. While none ran and none runs, the overview stands; time alone changes little of it (a breaker
 * that closes), so it is read again after a while all the same. Reading it twice a second cost six percent of a core.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { ClusterOverview } from '../../engine/overview.ts';

/** An overview that nothing moved is read again after this long, milliseconds. */
const STANDS_MS = 60_000;

export interface Looked {
  readonly overview: () => Promise<readonly ClusterOverview[]>;
  readonly aws: {
    readonly counts: {
      readonly started: number;
      readonly running: number;
      readonly zombies: number;
    };
  };
}

interface Seen {
  readonly clusters: readonly ClusterOverview[];
  /** Invocations that had begun before it was read; undefined: some ran meanwhile, so it holds no longer. */
  readonly runs: number | undefined;
  readonly atMs: number;
}

/** Looks at an engine's clusters for as long as it runs. */
export class OverviewPoller {
  readonly #engine: Looked;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #seen: Seen | undefined;

  constructor(engine: Looked, clock: Pick<Clock, 'monotonicMs'>) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** The newest overview. Rejects when a table fails. */
  async latest(): Promise<readonly ClusterOverview[]> {
    const runs = this.#runsAtRest();
    const nowMs = this.#clock.monotonicMs();
    const seen = this.#seen;
    const stands = seen?.runs !== undefined && seen.runs === runs && nowMs - seen.atMs < STANDS_MS;
    return stands ? seen.clusters : this.fresh();
  }

  /** Reads it now: for who decides by it. Rejects when a table fails. */
  async fresh(): Promise<readonly ClusterOverview[]> {
    const before = this.#runsAtRest();
    const clusters = await this.#engine.overview();
    const after = this.#runsAtRest();
    const runs = before === after ? before : undefined;
    this.#seen = { clusters, runs, atMs: this.#clock.monotonicMs() };
    return clusters;
  }

  /** How many invocations there were; undefined while one runs, also beyond its deadline. */
  #runsAtRest(): number | undefined {
    const { started, running, zombies } = this.#engine.aws.counts;
    return running + zombies === 0 ? started : undefined;
  }
}
