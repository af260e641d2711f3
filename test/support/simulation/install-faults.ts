/**
 * Puts the faults of a plan between the parts of a world. Each port asks the decider at each opportunity.
 *
 * Delays come from streams of their own. Nothing here touches the observer, the controllers' way to the API server, or
 * what a test reads of the tables.
 */
import type { Effect, Outcome } from '../../../src/core/model/effects.ts';
import type { Intervention } from '../simulated-hooks.ts';
import type { StoreCall, StoreHooks } from '../store-hooks.ts';
import { admitPod, refuseRequest, slowWebhook, admitToNamespace } from './admission-faults.ts';
import type { Fault } from './deeds.ts';
import { Dice, mixSeed } from './dice.ts';
import type { FaultDecider } from './fault-decider.ts';
import { Flow } from './flow-faults.ts';
import { TIMEOUTS_MS, type FunctionName } from './function-host.ts';
import type { GateRule } from './gate.ts';
import type { RecordFate } from './mapping.ts';
import type { SimulationPlan } from './plan.ts';
import type { QueueName } from './queues.ts';
import type { World } from './world.ts';

const FROZEN_MS_MAX = 90_000;
/** A request is dead after twice its time-out (design 3): it arrives before that, or never. */
const STUCK_MS_MAX = 15_000;
const LATE_ANSWER_MS_MAX = 2_000;
const LAST_GATE_PASSAGE = 40;
/** A function computes for so many hundredths of its time-out: little is left, or it is stopped meanwhile. */
const BUSY_PERCENT = [80, 101] as const;
const BIND_MS = 10;
const SLOW_BIND_MS = [2000, 90_000] as const;
/** A schedule's tick that comes late comes this much later at most. */
const LATE_TICK_MS_MAX = 300_000;

interface Installation {
  readonly world: World;
  readonly decider: FaultDecider;
  /** The functions, as the API server's priority and fairness sees them. */
  readonly flow: Flow;
}

/** Installs the faults of a plan in a world that has not begun to move. */
export function installFaults(world: World, plan: SimulationPlan, decider: FaultDecider): void {
  const on = { world, decider, flow: new Flow(world.clock, decider, 'throttle-functions') };
  installDelays(on, plan);
  world.fate = (queue) => fateOf(decider, queue);
  world.host.ruleFor = (name) => gateRule(on, name);
  world.site.intervene = (effect) => intervene(on, effect);
  world.tickOfResync = () => resyncTick(decider);
  world.site.answer = () => {
    const throttled = throttle(on);
    if (throttled !== undefined) return { kind: 'unavailable', isRefused: false, ...throttled };
    return decider.fires('read-error')
      ? { kind: 'unavailable', message: 'injected', isRefused: false }
      : undefined;
  };
  world.site.api.hooks.admitPod = (pod) => admitToNamespace(on, pod, admitPod(on, pod));
  world.controllers.bindDelayMs = () =>
    decider.strike('slow-bind')?.between(...SLOW_BIND_MS) ?? BIND_MS;
  world.controllers.behaviour = () => (decider.fires('failing-pods') ? 'fail' : 'run');
  world.queues.faults.sendEvent = () => {
    const dice = decider.strike('ambiguous-send');
    if (dice === undefined) return undefined;
    return { outcome: { kind: 'ambiguous', message: 'injected' }, applied: dice.chance(0.5) };
  };
  world.queues.faults.failsToSend = () => decider.fires('send-error');
  world.view.hooks = tableHooks(on);
  world.registry.hooks = {
    before: (call) => {
      if (!call.isWrite && decider.fires('registry-error')) throw injected('registry', call);
    },
  };
}

function installDelays({ world, decider }: Installation, plan: SimulationPlan): void {
  const { seed, setting } = plan;
  const delivery = new Dice(mixSeed(seed, 'delivery'));
  const request = new Dice(mixSeed(seed, 'request'));
  world.deliveryDelayMs = () => (decider.isCalm ? 1 : delivery.between(1, setting.deliveryMsMax));
  world.site.requestDelayMs = () => (decider.isCalm ? 2 : request.between(1, setting.requestMsMax));
  world.copyMsMax = setting.copyMsMax ?? world.copyMsMax;
  const { kubelets = 0 } = setting.skewMs;
  if (kubelets > 0) {
    world.controllers.kubeletSkewMs = (node) =>
      new Dice(mixSeed(seed, 'kubelet', node)).between(-kubelets, kubelets);
  }
  const { podStartMsMax } = setting;
  if (podStartMsMax === undefined) return;
  const start = new Dice(mixSeed(seed, 'pod-start'));
  world.controllers.startDelayMs = () => (decider.isCalm ? 300 : start.between(1, podStartMsMax));
}

function fateOf(decider: FaultDecider, queue: QueueName): RecordFate {
  if (queue === 'events.fifo' && decider.fires('drop-event')) return 'drop';
  if (queue === 'reconcile.fifo' && decider.fires('drop-hint')) return 'drop';
  if (queue === 'delay' && decider.fires('drop-timer')) return 'drop';
  if (decider.fires('copy')) return 'copy';
  return decider.fires('keep') ? 'keep' : 'deliver';
}

/** A 429, and for how long the functions are to stay away. */
function throttle({
  flow,
}: Installation): { readonly message: string; readonly retryAfterMs: number } | undefined {
  const retryAfterMs = flow.refusalMs();
  return retryAfterMs === undefined ? undefined : { message: 'injected: 429', retryAfterMs };
}

/** It computes at one place, often before it writes, and nothing else of the process happens meanwhile. */
function busyRule({ world }: Installation, dice: Dice, name: FunctionName): GateRule {
  const at = dice.between(1, LAST_GATE_PASSAGE);
  const isBeforeWrite = dice.chance(0.3);
  let isOver = false;
  const tookMs = (TIMEOUTS_MS[name] * dice.between(...BUSY_PERCENT)) / 100;
  return ({ index, operation, moment }) => {
    const isWrite = operation === 'execute' && moment === 'before';
    if (isOver || !(isBeforeWrite ? isWrite : index === at)) return undefined;
    isOver = true;
    return world.clock.sleep(tookMs);
  };
}

function gateRule(on: Installation, name: FunctionName): GateRule | undefined {
  const { world, decider } = on;
  const kill = decider.strike('kill');
  const dice = kill ?? decider.strike('freeze');
  if (dice === undefined) {
    const busy = decider.strike('busy-function');
    return busy === undefined ? undefined : busyRule(on, busy, name);
  }
  const at = dice.between(1, LAST_GATE_PASSAGE);
  const frozenMs = dice.between(100, FROZEN_MS_MAX);
  return (passage) => {
    if (passage.index !== at) return undefined;
    if (kill !== undefined) return 'kill';
    world.clock.after(frozenMs, () => {
      world.host.frozen.shift()?.thaw();
    });
    return 'freeze';
  };
}

const TICK_FAULTS = ['skip-resync', 'double-resync', 'late-resync'] as const;

/**
 * When a tick of the schedule arrives, in milliseconds from when it was due: it may come twice, or never. What is
 * provoked has the tick for itself: one that is skipped can be nothing else (M1).
 */
function resyncTick(decider: FaultDecider): readonly number[] {
  const provoked = TICK_FAULTS.find((fault) => decider.provoked.has(fault));
  const mayBe = (fault: Fault): boolean => provoked === undefined || provoked === fault;
  if (mayBe('skip-resync') && decider.fires('skip-resync')) return [];
  if (mayBe('double-resync') && decider.fires('double-resync')) return [0, 1];
  const late = mayBe('late-resync') ? decider.strike('late-resync') : undefined;
  return [late?.between(1000, LATE_TICK_MS_MAX) ?? 0];
}

function intervene(
  on: Installation,
  effect: Effect,
): Intervention | undefined | Promise<Intervention | undefined> {
  const { world, decider } = on;
  const throttled = throttle(on);
  if (throttled !== undefined) return answer({ kind: 'unsent', ...throttled });
  const refused = refuseRequest(on, effect);
  if (refused !== undefined) return refused;
  if (decider.fires('lose-answer')) return { kind: 'lose-answer' };
  const stuck = effect.kind === 'create-event' ? undefined : decider.strike('stuck');
  if (stuck !== undefined) {
    world.clock.after(stuck.between(100, STUCK_MS_MAX), () => {
      world.api.releaseStuck();
    });
    return { kind: 'stuck' };
  }
  // The adapter cannot know whether a 500 was applied (status-classifier.ts).
  if (effect.kind === 'create-pod' && decider.fires('create-error')) {
    return answer({ kind: 'ambiguous', message: 'injected: 500' });
  }
  if (effect.kind === 'update-status' && decider.fires('status-conflict')) {
    return answer({ kind: 'conflict', message: 'injected' });
  }
  return decider.fires('server-error')
    ? answer({ kind: 'unsent', message: 'injected' })
    : slowWebhook(on);
}

function answer(outcome: Outcome): Intervention {
  return { kind: 'answer', outcome };
}

function tableHooks({ world, decider }: Installation): StoreHooks {
  return {
    before: (call) => {
      const fault = call.isWrite ? 'table-write-error' : 'table-read-error';
      if (decider.fires(fault)) throw injected('throttled', call);
    },
    after: async (call) => {
      if (!call.isWrite) return undefined;
      if (decider.fires('table-answer-lost')) throw injected('answer lost', call);
      const late = decider.strike('table-answer-late');
      if (late === undefined) return undefined;
      const own = world.view.peek(call.target);
      await world.clock.sleep(late.between(1, LATE_ANSWER_MS_MAX));
      // The client asks again; the adapter knows its own write by its token, unless it was overwritten (row 33).
      const isOverwritten = world.view.peek(call.target) !== own;
      return isOverwritten && IS_COMPARED.test(call.operation) ? { result: 'lost' } : undefined;
    },
  };
}

/** Writes that answer whether they won. */
const IS_COMPARED = /^write|^remove(?!DaemonSet)/;

function injected(what: string, call: StoreCall): Error {
  return new Error(`injected: ${what}: ${call.operation} ${call.target}`);
}
