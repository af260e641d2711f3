/**
 * Draws a plan from a seed and a profile: the same two give the same plan, always.
 *
 * `mixed` is every profile in turn but those of users' worlds, combined chaos at every second seed.
 */
import type { Fault, StepKind } from './deeds.ts';
import { Dice, mixSeed } from './dice.ts';
import { PLAN_SCHEMA } from './plan.ts';
import type { FaultRule, PlanStep, Setting, SimulationPlan } from './plan.ts';
import { CHURN, PLACEMENT, PROFILE_NAMES, USERS_WORLDS, profileNamed } from './profiles.ts';
import type { Profile } from './profiles.ts';

export interface PlanRequest {
  readonly seed: number;
  readonly profile: string;
  readonly stepsCount: number;
}

const SKEW_MS_MAX = 600_000;

/** Draws the plan of a seed. */
export function drawPlan({ seed, profile: asked, stepsCount }: PlanRequest): SimulationPlan {
  const name = asked === 'mixed' ? mixedProfile(seed) : asked;
  const profile = profileNamed(name);
  const setting = drawSetting(new Dice(mixSeed(seed, name, 'setting')), profile);
  return {
    schema: PLAN_SCHEMA,
    profile: name,
    seed,
    setting,
    faults: drawFaults(new Dice(mixSeed(seed, name, 'faults')), profile),
    demands: profile.demands,
    steps: drawSteps(
      new Dice(mixSeed(seed, name, 'steps')),
      profile,
      Math.ceil(stepsCount * (profile.stepsShare ?? 1)),
    ),
  };
}

function mixedProfile(seed: number): string {
  if (seed % 2 === 0) return 'combined-chaos';
  const others: readonly string[] = USERS_WORLDS;
  const mixed = PROFILE_NAMES.filter((name) => !others.includes(name));
  return mixed[((seed - 1) / 2) % mixed.length] ?? 'combined-chaos';
}

function drawSetting(dice: Dice, profile: Profile): Setting {
  const isSkewed = dice.chance(profile.skewShare * 2);
  const skew = (): number =>
    isSkewed && dice.chance(0.5) ? dice.between(-SKEW_MS_MAX, SKEW_MS_MAX) : 0;
  return {
    nodesCount: dice.between(...(profile.nodes ?? [3, 5])),
    ...(profile.sets === undefined ? {} : { setsCount: dice.between(...profile.sets) }),
    skewMs: { api: skew(), functions: skew(), watcher: skew() },
    deliveryMsMax: dice.pick(profile.slowMs),
    requestMsMax: dice.pick(profile.requestMs),
    pageLimit: dice.pick([500, 500, 2]),
    ...drawBounds(dice),
  };
}

/** In some worlds bounds are so narrow that they are reached: bursts, open cuts, slice counts, snapshots, positions. */
function drawBounds(dice: Dice): Partial<Setting> {
  return {
    ...(dice.chance(0.2) ? { burstPodsMax: 2 } : {}),
    ...(dice.chance(0.2) ? { deltasMax: dice.pick([1, 3]) } : {}),
    ...(dice.chance(0.1) ? { sliceBytesMax: dice.pick([1500, 4000]) } : {}),
    ...(dice.chance(0.15) ? { snapshotMs: 45_000 } : {}),
    ...(dice.chance(0.2) ? { podStartMsMax: 5000 } : {}),
    ...(dice.chance(0.3) ? { positionsMax: dice.pick([0, 1]) } : {}),
  };
}

function drawFaults(dice: Dice, profile: Profile): SimulationPlan['faults'] {
  const faults: Partial<Record<Fault, FaultRule>> = {};
  for (const [fault, { share, rate }] of Object.entries(profile.faults)) {
    const [least, most] = rate;
    const drawn = least + (most - least) * dice.draw();
    const isDemanded = (profile.demands as readonly string[]).includes(fault);
    if (dice.chance(share) || isDemanded) faults[fault as Fault] = { rate: rounded(drawn) };
  }
  return faults;
}

function rounded(rate: number): number {
  return Math.round(rate * 1000) / 1000;
}

function drawSteps(dice: Dice, profile: Profile, count: number): readonly PlanStep[] {
  const weights = { ...CHURN, ...(dice.chance(0.5) ? PLACEMENT : {}), ...profile.steps };
  const rare = profile.rare.length === 0 ? undefined : dice.pick([...profile.rare, undefined]);
  const table = Object.entries(rare === undefined ? weights : { ...weights, [rare]: 1 });
  const total = table.reduce((sum, [, weight]) => sum + weight, 0);
  return Array.from({ length: count }, () => {
    let left = dice.draw() * total;
    const drawn = table.find(([, weight]) => (left -= weight) < 0) ?? table[0];
    const waitMs = dice.between(1, dice.chance(0.2) ? 30_000 : 2500);
    return {
      kind: (drawn?.[0] ?? 'roll') as StepKind,
      dice: Math.floor(dice.draw() * 2 ** 31),
      waitMs,
    };
  });
}
