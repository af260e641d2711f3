/**
 * Steps of what a cluster's own network does: the way to SQS that is lost, perhaps for hours, and what comes through afterwards.
 *
 * The watcher repeats one frozen message meanwhile. It is taken first, as old as it is; the next comes minutes later,
 * because a way that comes back flaps. Until then that message is all that anybody heard (protocol 1, ADR 0079).
 */
import { phaseOf } from './controllers.ts';
import type { StepContext } from './step-context.ts';
import { setReady } from './steps-of-nodes.ts';

/** Longer than a view may be old at all (docs/reference/codes.md), up to two hours. */
const LOST_MS = [20 * 60_000, 120 * 60_000] as const;
const LOST_SHORTLY_MS = [1000, 60_000] as const;
const FLAPS_MS = [10_000, 4 * 60_000] as const;
/** So many pods are not ready while the network is gone, and nobody hears of it. */
const UNREADY_SHARE = 0.5;

/** Nothing that watchers send arrives; pods lose their readiness behind what was sent last. */
export function loseWay({ world, dice }: StepContext): boolean {
  const { queues, clock } = world;
  if (queues.way !== 'open' || world.watchers.length === 0) return false;
  queues.way = 'closed';
  const lostMs = dice.between(...(dice.chance(0.5) ? LOST_MS : LOST_SHORTLY_MS));
  const openAfterMs = lostMs + dice.between(...FLAPS_MS);
  clock.after(dice.between(500, 10_000), () => {
    if (queues.way === 'open') return;
    const running = world.api.list('pods').filter((pod) => phaseOf(pod) === 'Running');
    const chosen = running.filter(() => dice.chance(UNREADY_SHARE));
    for (const pod of chosen) setReady(world, pod, false);
    clock.after(openAfterMs, () => {
      for (const pod of chosen) setReady(world, pod, true);
    });
  });
  clock.after(lostMs, () => {
    if (queues.way === 'closed') queues.way = 'once';
  });
  clock.after(openAfterMs, () => {
    queues.way = 'open';
  });
  return true;
}
