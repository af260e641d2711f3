/**
 * Makes a broken plan smaller while it still breaks the same promise: fewer faults, steps and firings, no skew.
 *
 * Greedy, in passes from coarse to fine, until nothing more can be taken away or the time is over: the last plan that
 * broke is the answer. What a plan demands is not demanded while it shrinks.
 */
import type { Fault } from './deeds.ts';
import { playPlan, type PlayBroken, type PlayResult } from './play-plan.ts';
import type { FaultRule, SimulationPlan } from './plan.ts';

/** Bounds of shrinking. */
export interface ShrinkOptions {
  /** True once there is no time left: real time, which belongs to whoever asked. */
  readonly isOver: () => boolean;
  /** How a plan is played; in a world of its own unless told. */
  readonly play?: (plan: SimulationPlan) => Promise<PlayResult>;
}

/** The smallest play found that breaks the same promise. */
export async function shrinkPlan(
  broken: PlayBroken,
  { isOver, play = playPlan }: ShrinkOptions,
): Promise<PlayBroken> {
  let smallest = broken;
  const accepts = async (plan: SimulationPlan): Promise<boolean> => {
    if (isOver()) return false;
    const result = await play(plan);
    if (result.kind !== 'broken' || result.rule !== broken.rule) return false;
    smallest = result;
    return true;
  };
  if (broken.rule === 'M1') return broken;
  await accepts(exactly(broken));
  for (let before = ''; before !== JSON.stringify(smallest.plan) && !isOver();) {
    before = JSON.stringify(smallest.plan);
    await shrinkSteps(() => smallest.plan, accepts);
    for (const fault of Object.keys(smallest.plan.faults) as Fault[]) {
      await accepts(withFault(smallest.plan, fault, undefined));
    }
    for (const fault of Object.keys(smallest.plan.faults) as Fault[]) {
      await shrinkFirings(() => smallest.plan, { fault, accepts });
    }
    for (const setting of simplerSettings(smallest.plan)) {
      await accepts({ ...smallest.plan, setting });
    }
  }
  return smallest;
}

type Accepts = (plan: SimulationPlan) => Promise<boolean>;

/** The same run, each fault at exactly the opportunities at which it fired. */
function exactly({ plan, firedAt }: PlayBroken): SimulationPlan {
  const faults = Object.fromEntries([...firedAt].map(([fault, at]) => [fault, { at }]));
  return { ...plan, faults, demands: [] };
}

/** Cuts the tail, then chunks of halving size. */
async function shrinkSteps(plan: () => SimulationPlan, accepts: Accepts): Promise<void> {
  for (let size = Math.ceil(plan().steps.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let end = plan().steps.length; end > 0; end -= size) {
      const { steps } = plan();
      const kept = [...steps.slice(0, Math.max(0, end - size)), ...steps.slice(end)];
      await accepts({ ...plan(), steps: kept });
    }
  }
}

async function shrinkFirings(
  plan: () => SimulationPlan,
  { fault, accepts }: { readonly fault: Fault; readonly accepts: Accepts },
): Promise<void> {
  const firings = (): readonly number[] => {
    const rule = plan().faults[fault];
    return rule !== undefined && 'at' in rule ? rule.at : [];
  };
  for (let size = Math.ceil(firings().length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let end = firings().length; end > 0; end -= size) {
      const at = [...firings().slice(0, Math.max(0, end - size)), ...firings().slice(end)];
      if (at.length > 0) await accepts(withFault(plan(), fault, { at }));
    }
  }
}

function withFault(
  plan: SimulationPlan,
  fault: Fault,
  rule: FaultRule | undefined,
): SimulationPlan {
  const others = Object.entries(plan.faults).filter(([name]) => name !== fault);
  const faults = Object.fromEntries(rule === undefined ? others : [...others, [fault, rule]]);
  return { ...plan, faults };
}

/** Without bounds and delays of its own. What its DaemonSets are stays: without their policy an ill image breaks L1 by itself. */
function plainSetting({ setting }: SimulationPlan): SimulationPlan['setting'] {
  const {
    copyMsMax: _copies,
    podStartMsMax: _starts,
    burstPodsMax: _pods,
    deltasMax: _deltas,
    sliceBytesMax: _bytes,
    snapshotMs: _snapshots,
    positionsMax: _positions,
    ...plain
  } = setting;
  return plain;
}

function simplerSettings(plan: SimulationPlan): readonly SimulationPlan['setting'][] {
  const { setting } = plan;
  return [
    plainSetting(plan),
    { ...setting, skewMs: { api: 0, functions: 0, watcher: 0 } },
    { ...setting, pageLimit: 500 },
    { ...setting, nodesCount: Math.max(1, setting.nodesCount - 1) },
    { ...setting, deliveryMsMax: 1, requestMsMax: 2 },
  ].filter((simpler) => JSON.stringify(simpler) !== JSON.stringify(setting));
}
