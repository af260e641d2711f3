/**
 * A fleet by seed: clusters of a dozen nodes and several DaemonSets each, beside one of many keys that floods, hangs, answers
 * garbage, is slow or refuses, in an order and for as long as the dice say. L3 is judged at each change in each of the others.
 *
 * Afterwards the noisy cluster answers again: then every cluster comes to exactly its pods (L1), and no observer saw
 * anything broken. Latencies alone are measured in the same world, before the noise: nothing depends on this machine.
 */
import type { Outcome } from '../../../src/core/model/effects.ts';
import { Dice, mixSeed } from '../simulation/dice.ts';
import { differences } from '../simulation/oracle.ts';
import { FleetWorld, answerGarbage, hang, recover, type FleetMember } from './fleet-world.ts';

export interface FleetReport {
  /** Broken promises, as text; empty if all were kept. */
  readonly broken: readonly string[];
  /** Noises in the order in which they were made. */
  readonly noises: readonly Noise[];
  /** Changes whose latency was judged. */
  readonly judged: number;
}

const NOISES = ['flood', 'hang', 'garbage', 'slow', 'refusals'] as const;
type Noise = (typeof NOISES)[number];

const HEALTHY = ['alpha', 'beta'] as const;
const NODES = [12, 14] as const;
const SETS = [3, 4] as const;
/** More than `reconcile` has room for is a crowd. */
const NOISY_KEYS = 60;
const NOISES_COUNT = 2;
/** Changes while a noise goes on, beside the one with which it begins. */
const CHANGES = 2;
const FLOOD_KEYS = 5000;
/** docs/promise.md, L3: at most so many times the latency alone, and a time-out more, once, where a cluster begins to hang. */
const FACTOR = 3;
const TIMEOUT_MS = 5000;
const SLOW_MS = 4000;
const KNOWN_SLOW_MS = 60_000;
const TRICKLE_EVERY_MS = 500;
const FLOOD_EVERY_MS = 2000;
const CHANGE_MS_MAX = 120_000;
const SETTLES_WITHIN_MS = 30 * 60_000;

const FORBIDDEN: Outcome = { kind: 'refused', code: 'forbidden', status: 403, message: 'no' };

/** Plays one seed, with so many healthy clusters beside the noisy one. */
export async function playFleet(
  seed: number,
  healthyCount: number = HEALTHY.length,
): Promise<FleetReport> {
  const dice = new Dice(mixSeed(seed, 'fleet'));
  const world = new FleetWorld(seed);
  const healthy = Array.from({ length: healthyCount }, (_, index) =>
    world.add({
      name: HEALTHY[index] ?? `healthy-${String(index)}`,
      daemonSets: dice.between(...SETS),
      nodes: dice.between(...NODES),
    }),
  );
  const noisy = world.add({ name: 'noisy', daemonSets: NOISY_KEYS });
  await world.clock.advance(30_000);
  const play = new FleetPlay(world, healthy, noisy);
  const aloneMs = Math.max(...(await play.change()), ...(await play.change()));
  const noises: Noise[] = [];
  for (let round = 0; round < NOISES_COUNT; round += 1) {
    const noise = dice.pick(NOISES.filter((each) => !noises.includes(each)));
    noises.push(noise);
    play.begin(noise);
    // Of a slow one nothing is promised before it is known to be slow.
    await world.clock.advance(noise === 'slow' ? KNOWN_SLOW_MS : dice.between(0, 3000));
    await play.judge(
      `it begins (${noise})`,
      FACTOR * aloneMs + (noise === 'hang' ? TIMEOUT_MS : 0),
    );
    await world.clock.advance(dice.between(1000, 20_000));
    for (let change = 0; change < CHANGES; change += 1) {
      await play.judge(`it goes on (${noise})`, FACTOR * aloneMs);
    }
    if (dice.chance(0.5)) play.begin(undefined);
  }
  play.begin(undefined);
  await play.settle();
  return { broken: play.broken, noises, judged: play.judged };
}

class FleetPlay {
  readonly broken: string[] = [];
  judged = 0;
  readonly #world: FleetWorld;
  readonly #healthy: readonly FleetMember[];
  readonly #noisy: FleetMember;
  #noise: Noise | undefined;
  #changes = 0;

  constructor(world: FleetWorld, healthy: readonly FleetMember[], noisy: FleetMember) {
    this.#world = world;
    this.#healthy = healthy;
    this.#noisy = noisy;
    this.#makeNoise();
  }

  /** The noisy cluster does this from now on, and nothing else; undefined: it is well. */
  begin(noise: Noise | undefined): void {
    const { site } = this.#noisy;
    this.#noise = noise;
    recover(this.#noisy);
    if (noise === 'hang') hang(this.#noisy);
    if (noise === 'garbage') answerGarbage(this.#noisy);
    if (noise === 'slow') site.requestDelayMs = () => SLOW_MS;
    if (noise === 'refusals') {
      site.intervene = ({ kind }) =>
        kind === 'create-pod' ? { kind: 'answer', outcome: FORBIDDEN } : undefined;
    }
    // Something to do for each of its keys.
    if (noise !== undefined) this.#world.addNode(this.#noisy, `noisy-${noise}`);
  }

  /** A node for each of the others at the same time: how long until the last of its pods was made. */
  async change(): Promise<readonly number[]> {
    const { clock } = this.#world;
    this.#changes += 1;
    const late = `late-${String(this.#changes)}`;
    const latencies = this.#healthy.map(() => CHANGE_MS_MAX);
    let left = this.#healthy.length;
    for (const [index, member] of this.#healthy.entries()) {
      void this.#world.latencyOf(member, `${member.id}-${late}`).then((latencyMs) => {
        latencies[index] = latencyMs;
        left -= 1;
      });
    }
    for (let waitedMs = 0; left > 0 && waitedMs < CHANGE_MS_MAX; waitedMs += 250) {
      await clock.advance(250);
    }
    return latencies;
  }

  async judge(when: string, boundMs: number): Promise<void> {
    const latencies = await this.change();
    this.judged += latencies.length;
    const worst = Math.max(...latencies);
    if (worst <= boundMs) return;
    this.broken.push(`L3: ${String(worst)} ms where ${String(boundMs)} are allowed, when ${when}`);
  }

  async settle(): Promise<void> {
    const { clock, members, host } = this.#world;
    const left = (): readonly string[] =>
      [...members.values()].flatMap(({ id, site }) =>
        differences(site.api).map((text) => `L1: ${id}: ${text}`),
      );
    for (let waitedMs = 0; left().length > 0 && waitedMs < SETTLES_WITHIN_MS; waitedMs += 5000) {
      await clock.advance(5000);
    }
    this.broken.push(
      ...left().slice(0, 3),
      ...host.failures.map((failure) => `bug: ${String(failure)}`),
    );
    for (const { id, observer } of members.values()) {
      this.broken.push(...observer.violations.map((text) => `${text} (${id})`));
    }
  }

  #makeNoise(): void {
    const isFlood = this.#noise === 'flood';
    this.#world.clock.after(isFlood ? FLOOD_EVERY_MS : TRICKLE_EVERY_MS, () => {
      if (this.#noise === 'flood') void this.#world.flood(this.#noisy, FLOOD_KEYS);
      else if (this.#noise !== undefined) void this.#world.trickle(this.#noisy);
      this.#makeNoise();
    });
  }
}
