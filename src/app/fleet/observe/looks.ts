/**
 * What steps know of clusters that they do not look at: of more than 500, each step looks at a
 * part. The one looked at longest ago goes first. What was found is kept by cluster and judges it
 * until the next look; a stage opens only once each was looked at within twenty minutes, and since
 * it soaks.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetClusterRecord, FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { GivenCluster, KeptLook } from '../../../core/fleet/rollout/tally-stage.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { StartLimits } from '../../../core/pod/request-life.ts';
import { READ_AT_ONCE, type StepFleetsDependencies } from './dependencies.ts';

/** Clusters of stages that opened, and of the ring, of which every step looks at all: some seconds. */
const WHOLE_MAX = 500;
/** Of the time that is left when a step begins; the rest is for what it writes and gives. */
const SHARE = 0.6;
/** Who was looked at within this leaves others half of that. */
const FRESH_MS = 600_000;
/** By so much later is it the turn of who is done. */
const DONE_LATER_MS = 300_000;
/** A look that lets a stage open is no older. */
const OPENS_MS = 1_200_000;
const KEPT_MS = 86_400_000;

/** A step's dependencies, with what it knows of clusters. */
export interface ObserveDependencies extends StepFleetsDependencies {
  readonly looks: Looks;
}

export interface Recorded {
  readonly id: ClusterId;
  readonly record: FleetClusterRecord | undefined;
}

/** When it is over; monotonic. */
interface Ends {
  readonly halfwayMs: number;
  readonly endMs: number;
}

/** What a step looks at, and what it knows of the others. */
export class Looks {
  readonly #kept: Map<ClusterId, KeptLook>;
  readonly #clock: StepFleetsDependencies['clock'];
  /** Absent: it looks at all. */
  readonly #ends: Ends | undefined;
  /** What was found before does not let a stage open. */
  readonly #opensSinceMs: number;
  #count = 0;

  private constructor(
    kept: ReadonlyMap<ClusterId, KeptLook>,
    { wellSinceMs = 0 }: Pick<FleetRecord, 'wellSinceMs'>,
    { clock, ends }: Pick<StepFleetsDependencies, 'clock'> & { readonly ends: Ends | undefined },
  ) {
    this.#kept = new Map(kept);
    this.#clock = clock;
    this.#ends = ends;
    this.#opensSinceMs = Math.max(wellSinceMs, clock.nowMs() - OPENS_MS);
  }

  /** For one step. Rejects when the table fails. */
  static async open(
    record: FleetRecord,
    { deadlineMs }: StartLimits,
    { rollouts, clock }: StepFleetsDependencies,
  ): Promise<Looks> {
    const opened = record.stages.slice(0, record.stage + 1).map(({ members }) => members);
    const clusters = [...opened, record.ring].reduce((sum, { count }) => sum + count, 0);
    if (clusters <= WHOLE_MAX) return new Looks(new Map(), record, { clock, ends: undefined });
    const kept = await rollouts.readLooks(record);
    const beginMs = clock.monotonicMs();
    const shareMs = (deadlineMs - beginMs) * SHARE;
    const ends = { halfwayMs: beginMs + shareMs / 2, endMs: beginMs + shareMs };
    return new Looks(kept, record, { clock, ends });
  }

  /** In the order in which they are looked at. */
  inOrder<T>(clusters: readonly T[], of: (cluster: T) => Recorded): readonly T[] {
    if (this.#ends === undefined) return clusters;
    const turnOf = (cluster: T): number => {
      const { id, record } = of(cluster);
      return (this.#kept.get(id)?.atMs ?? 0) + (isDone(record) ? DONE_LATER_MS : 0);
    };
    return clusters.toSorted((left, right) => turnOf(left) - turnOf(right));
  }

  /** True if there is time to look at it. A step gets somewhere, however little there is. */
  mayLook(cluster: Recorded): boolean {
    if (this.#ends === undefined) return true;
    const { halfwayMs, endMs } = this.#ends;
    const { atMs = 0 } = this.known(cluster) ?? {};
    const isFresh = this.isRecent(cluster) && this.#clock.nowMs() - atMs < FRESH_MS;
    const isOver = this.#clock.monotonicMs() >= (isFresh ? halfwayMs : endMs);
    if (isOver && this.#count >= READ_AT_ONCE) return false;
    this.#count += 1;
    return true;
  }

  /** What was found last, of this record as it stands; undefined: nothing was. */
  known({ id, record }: Recorded): KeptLook | undefined {
    const look = this.#kept.get(id);
    const isOfRecord =
      look?.phase === record?.phase && (look?.atMs ?? 0) >= (record?.openedAtMs ?? 0);
    return isOfRecord ? look : undefined;
  }

  /** True if a stage may open by what is known of it. */
  isRecent(cluster: Recorded): boolean {
    if (this.#ends === undefined) return true;
    const { atMs = 0 } = this.known(cluster) ?? {};
    return atMs >= this.#opensSinceMs && atMs - this.#clock.nowMs() < OPENS_MS;
  }

  /** One that was given the release and is not looked at, as it was last. */
  remembered(record: FleetClusterRecord): GivenCluster {
    const { kind, ratios } = this.known({ id: record.cluster, record }) ?? {
      kind: isDone(record) ? 'well' : 'awaited',
    };
    return { record, verdict: { kind }, ...defined({ ratios }) };
  }

  keep({ id, record }: Recorded, found: Pick<KeptLook, 'kind' | 'ratios'>): void {
    const { phase } = record ?? {};
    this.#kept.set(id, { cluster: id, atMs: this.#clock.nowMs(), ...found, ...defined({ phase }) });
  }

  /** For the next steps. Rejects when the table fails. */
  async write(fleet: FleetRecord, { rollouts }: StepFleetsDependencies): Promise<void> {
    if (this.#ends === undefined || this.#count === 0) return;
    const keptSinceMs = this.#clock.nowMs() - KEPT_MS;
    await rollouts.writeLooks(
      fleet,
      [...this.#kept.values()].filter(({ atMs }) => atMs >= keptSinceMs),
    );
  }
}

/** It moves no more by itself: a failure stands in its record, whatever is seen. */
function isDone(record: FleetClusterRecord | undefined): boolean {
  return record?.phase === 'well' || record?.phase === 'failed' || record?.phase === 'returned';
}
