/**
 * All interleavings of a small world's actors, depth first, without repeating what is known.
 *
 * A schedule says whose call comes next, until all have finished. There is no way back in a world, so
 * each schedule begins anew; it ends early where tables, API server, and all that every actor heard are
 * as in a world that was seen before. Without a bound on preemptions that is every interleaving there
 * is; with a bound, every one that takes the turn away from an unfinished actor at most so often.
 */
import { SmallWorld, type SmallScene } from './small-world.ts';

export interface ExploreOptions {
  /** Turns taken away from an actor that is not done. */
  readonly preemptionsMax: number;
  /** Give up after so many schedules; the answer says so. */
  readonly schedulesMax?: number;
}

export interface Exploration {
  /** Worlds that were started. */
  readonly schedules: number;
  /** Different states, at any point of any schedule. */
  readonly states: number;
  /** Different states at the end of all actors; each was settled. */
  readonly ends: number;
  /** Calls of the longest schedule. */
  readonly depth: number;
  /** False: `schedulesMax` was reached. */
  readonly isWhole: boolean;
}

/** A schedule broke a promise; it is named as `ABBA…`, one letter for each call. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError';

  constructor(scene: SmallScene, schedule: string, cause: unknown) {
    const command = `node scripts/launch.mjs test/simulation/systematic/run.ts small/${scene.name}/${schedule}`;
    super(`small/${scene.name}/${schedule} failed; it alone: ${command}`, { cause });
  }
}

/** Explores a scene; throws at the first schedule that breaks a promise. */
export async function explore(scene: SmallScene, options: ExploreOptions): Promise<Exploration> {
  const search = new Search(scene, options);
  return search.run();
}

/** Plays one schedule; letters beyond it follow the default, the turn of whoever has it. */
export async function playSchedule(scene: SmallScene, schedule: string): Promise<SmallWorld> {
  const small = await SmallWorld.start(scene);
  for (const letter of schedule) {
    const actor = small.actors.find((each) => each.letter === letter);
    if (actor === undefined || actor.isFinished) throw new Error(`${letter} has no next call`);
    await actor.step();
  }
  for (const actor of small.actors) while (!actor.isFinished) await actor.step();
  await small.finish();
  return small;
}

interface Place {
  readonly current: number | undefined;
  readonly preemptions: number;
}

class Search {
  readonly #scene: SmallScene;
  readonly #options: ExploreOptions;
  readonly #seen = new Set<string>();
  readonly #ends = new Set<string>();
  readonly #prefixes: (readonly number[])[] = [[]];
  #schedules = 0;
  #depth = 0;

  constructor(scene: SmallScene, options: ExploreOptions) {
    this.#scene = scene;
    this.#options = options;
  }

  async run(): Promise<Exploration> {
    const { schedulesMax = Number.POSITIVE_INFINITY } = this.#options;
    let prefix = this.#prefixes.pop();
    while (prefix !== undefined && this.#schedules < schedulesMax) {
      this.#schedules += 1;
      await this.#play(prefix);
      prefix = this.#prefixes.pop();
    }
    return {
      schedules: this.#schedules,
      states: this.#seen.size,
      ends: this.#ends.size,
      depth: this.#depth,
      isWhole: prefix === undefined,
    };
  }

  async #play(prefix: readonly number[]): Promise<void> {
    const small = await SmallWorld.start(this.#scene);
    const schedule: number[] = [];
    try {
      await this.#follow(small, schedule, prefix);
    } catch (cause) {
      const text = schedule.map((index) => small.actors[index]?.letter ?? '?').join('');
      throw new ScheduleError(this.#scene, text, cause);
    }
  }

  async #follow(small: SmallWorld, schedule: number[], prefix: readonly number[]): Promise<void> {
    let place: Place = { current: undefined, preemptions: 0 };
    for (;;) {
      const { enabled } = small;
      if (enabled.length === 0) break;
      const isNew = schedule.length >= prefix.length;
      if (isNew && !this.#note(small, place)) return;
      const next = prefix[schedule.length] ?? defaultOf(enabled, place);
      if (isNew) this.#branch({ schedule, enabled, place, next });
      place = after(place, next, enabled);
      schedule.push(next);
      await small.actors[next]?.step();
      small.world.assertSafe();
    }
    this.#depth = Math.max(this.#depth, schedule.length);
    const shared = small.shared();
    if (this.#ends.has(shared)) return;
    this.#ends.add(shared);
    await small.finish();
  }

  /** False: what follows from here is known. */
  #note(small: SmallWorld, { current, preemptions }: Place): boolean {
    const isBounded = Number.isFinite(this.#options.preemptionsMax);
    const budget = isBounded ? ` ${String(current)} ${preemptions}` : '';
    const key = `${small.digest()}${budget}`;
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  #branch(at: {
    readonly schedule: readonly number[];
    readonly enabled: readonly number[];
    readonly place: Place;
    readonly next: number;
  }): void {
    for (const other of at.enabled) {
      if (other === at.next) continue;
      const { preemptions } = after(at.place, other, at.enabled);
      if (preemptions > this.#options.preemptionsMax) continue;
      this.#prefixes.push([...at.schedule, other]);
    }
  }
}

function defaultOf(enabled: readonly number[], { current }: Place): number {
  return current !== undefined && enabled.includes(current) ? current : (enabled[0] ?? 0);
}

function after({ current, preemptions }: Place, next: number, enabled: readonly number[]): Place {
  const isTaken = current !== undefined && current !== next && enabled.includes(current);
  return { current: next, preemptions: preemptions + Number(isTaken) };
}
