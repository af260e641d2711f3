/**
 * Steps of limits: of a namespace (LimitRange, a webhook that injects, a quota), of an event-source mapping (maximumConcurrency), of a queue (bytes).
 *
 * A step counts once its limit was felt: a pod was changed, a message waited or was refused.
 */
import type { StepContext } from './step-context.ts';

const NARROW_MS = [20_000, 180_000] as const;
/** The fewest that AWS allows. */
const CONCURRENCY_MIN = 2;
/** An object fits into a message of its own; more than a few do not. */
const NARROW_BYTES = [2000, 3000] as const;

/** The namespace gets a LimitRange, another one, or loses it; pods that exist stay as they are. */
export function setLimits({ world, dice }: StepContext): boolean {
  const cpu = dice.pick(['100m', '250m']);
  const amounts = { cpu, memory: '128Mi' };
  world.site.limits = dice.chance(0.8) ? { limits: amounts, requests: amounts } : undefined;
  return false;
}

/** A webhook that changes every new pod is installed, or taken away: later, or never. */
export function setInjector({ world, dice, later }: StepContext): boolean {
  world.site.isInjecting = dice.chance(0.8);
  if (dice.chance(0.5)) {
    later(dice.between(...NARROW_MS), () => {
      world.site.isInjecting = false;
    });
  }
  return false;
}

/** For a while a quota admits no pod; a whole hour is played in test/simulation/refused-creates.test.ts. */
export function fillNamespace({ world, dice, later }: StepContext): boolean {
  world.site.isFull = true;
  later(dice.between(...NARROW_MS), () => {
    world.site.isFull = false;
  });
  return false;
}

/** For a while two keys are reconciled at a time, whatever waits. */
export function narrowMapping({ world, decider, dice, later }: StepContext): boolean {
  const mapping = world.mapping('reconcile.fifo');
  mapping.concurrencyMax = CONCURRENCY_MIN;
  mapping.onFull = () => {
    decider.note('narrow-mapping');
  };
  later(dice.between(...NARROW_MS), () => {
    mapping.concurrencyMax = Infinity;
    mapping.poke();
  });
  return false;
}

/** For a while the queue takes small messages only: what it refused is refused for good, whatever a watcher believed. */
export function narrowQueue({ world, decider, dice, later }: StepContext): boolean {
  const { queues } = world;
  queues.bytesMax = dice.pick(NARROW_BYTES);
  queues.onTooLarge = () => {
    decider.note('narrow-queue');
  };
  later(dice.between(...NARROW_MS), () => {
    queues.bytesMax = Infinity;
  });
  return false;
}
