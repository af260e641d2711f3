/** Steps of watchers, queues, clocks, tables and etcd. */
import type { WatchedKind } from '../../../src/core/model/projections.ts';
import type { ClusterBackup } from '../simulated-cluster.ts';
import type { FaultDecider } from './fault-decider.ts';
import { Flow } from './flow-faults.ts';
import type { StepContext } from './step-context.ts';
import { endPod } from './steps-of-nodes.ts';
import { Dice } from './dice.ts';
import type { WatcherProcess } from './watcher-process.ts';
import type { World } from './world.ts';

const FROZEN_MS_MAX = 90_000;
const SKEW_MS_MAX = 600_000;
const STALLED_MS = [5 * 60_000, 60 * 60_000] as const;
/** Longer than the five minutes after which the built-in controller forgets its expectations (row 13). */
const OUTLIVE_MS = 6 * 60_000;
/** A restore is noticed by the Lease, so it goes back behind a renewal, as real ones do. */
const BACKUP_AGE_MIN_MS = 30_000;
const WATCHERS_MAX = 3;
const KINDS: readonly WatchedKind[] = ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'];
const REPLICA_LAG_MS_MAX = 20_000;

/** Starts a watcher whose requests meet the faults of the plan. */
export function startWatcher({
  world,
  decider,
  dice,
}: Pick<StepContext, 'world' | 'decider' | 'dice'>): WatcherProcess {
  const process = world.startWatcher();
  const { faults } = process;
  const slowMs = dice.pick([1, 1, 50, 1500]);
  const lag = new Dice(dice.between(1, 1e9));
  faults.supportsWatchList = dice.chance(0.5);
  faults.lagMs = () => (decider.isCalm ? 1 : lag.between(1, slowMs));
  faults.streamLagMs = () => decider.strike('replica-lag')?.between(1000, REPLICA_LAG_MS_MAX) ?? 0;
  const flow = new Flow(world.clock, decider, 'throttle-watcher');
  faults.failure = (what) => {
    const retryAfterMs = flow.refusalMs();
    if (retryAfterMs !== undefined) {
      return { kind: 'throttled', message: 'injected: 429', retryAfterMs };
    }
    if (decider.fires('watch-error')) return { kind: 'unavailable', message: 'injected' };
    const isExpired = what.startsWith('watch')
      ? decider.fires('watch-expired')
      : what.endsWith(' further') && decider.fires('list-expired');
    return isExpired ? { kind: 'expired', message: 'injected' } : undefined;
  };
  faults.losesLeaseAnswer = () => decider.fires('lease-answer-lost');
  return process;
}

/** Kills a watcher most times, and starts one. */
export function restartWatcher(context: StepContext): boolean {
  const { world, dice } = context;
  const [process] = world.watchers;
  const isStopped = world.watchers.length >= WATCHERS_MAX || dice.chance(0.8);
  if (process !== undefined && isStopped) world.stopWatcher(process);
  startWatcher(context);
  return true;
}

/** A deployment of the watcher: the one that ran ends before or after the new one begins. */
export function deployWatcher(context: StepContext): boolean {
  const { world, dice } = context;
  const former = [...world.watchers];
  const isFirstGone = dice.chance(0.5);
  if (isFirstGone) for (const process of former) world.stopWatcher(process);
  startWatcher(context);
  if (isFirstGone) return true;
  world.clock.after(dice.between(100, 30_000), () => {
    for (const process of former) if (world.watchers.includes(process)) world.stopWatcher(process);
  });
  return true;
}

/** A second watcher beside the first, by mistake (row 72). */
export function startSecondWatcher(context: StepContext): boolean {
  if (context.world.watchers.length >= WATCHERS_MAX) return false;
  startWatcher(context);
  return true;
}

/** A watcher's process stands still for a while; perhaps another one takes over meanwhile (row 80). */
export function sleepWatcher(context: StepContext): boolean {
  const { world, dice } = context;
  const process = world.watchers.find(({ clock }) => !clock.isFrozen);
  if (process === undefined) return false;
  process.clock.freeze();
  world.clock.after(dice.between(1000, FROZEN_MS_MAX), () => {
    process.clock.thaw();
  });
  if (dice.chance(0.5) && world.watchers.length < WATCHERS_MAX) startWatcher(context);
  return true;
}

/** All streams of a watcher die without a word (row 36). */
export function silenceWatch({ world, dice }: StepContext): boolean {
  if (world.watchers.length === 0) return false;
  dice.pick(world.watchers).source.silence();
  return true;
}

/** A watch cache of the API server stands still for some kinds, and goes on later (row 2). */
export function freezeCache({ world, dice }: StepContext): boolean {
  const kinds = KINDS.filter(() => dice.chance(0.5));
  holdCaches(world, kinds, dice.between(500, 60_000));
  return kinds.length > 0 && world.watchers.length > 0;
}

/** Only what happens to pods is not seen for a while: edits of DaemonSets overtake it (row 2). */
export function freezePods({ world, dice }: StepContext): boolean {
  holdCaches(world, ['Pod'], dice.between(500, 20_000));
  return world.watchers.length > 0;
}

/** The functions' clock jumps ahead while the view does not move: nothing may be forgotten by time (row 13). */
export function outliveExpectations(context: StepContext): boolean {
  const { world, dice } = context;
  holdCaches(world, ['Pod'], dice.between(2000, 30_000));
  endPod(context);
  world.clock.after(dice.between(100, 2000), () => {
    const { skewMs } = world.functionClock;
    const byMs = skewMs + OUTLIVE_MS > SKEW_MS_MAX ? OUTLIVE_MS - 2 * SKEW_MS_MAX : OUTLIVE_MS;
    world.functionClock.skewMs = skewMs + byMs;
    for (const set of world.api.list('daemonsets')) world.hint(set.metadata.name);
  });
  return world.watchers.length > 0;
}

/** A machine's wall clock jumps, ahead or back (row 14). */
export function stepClock({ world, dice }: StepContext): boolean {
  const watchers = world.watchers.map(({ clock }) => clock);
  const clock = dice.pick([world.functionClock, world.apiClock, ...watchers]);
  clock.skewMs = dice.between(-SKEW_MS_MAX, SKEW_MS_MAX);
  return true;
}

/** A queue delivers nothing for a while (row 27). */
export function pauseQueue({ world, dice }: StepContext): boolean {
  const queue = dice.pick(['events.fifo', 'reconcile.fifo', 'delay'] as const);
  world.mapping(queue).isPaused = true;
  world.clock.after(dice.between(100, 40_000), () => {
    world.resume(queue);
  });
  return true;
}

/** A queue delivers nothing for as long as an hour: what it holds comes late, and at once. */
export function stallQueue({ world, dice, later }: StepContext): boolean {
  const queue = dice.pick(['events.fifo', 'reconcile.fifo', 'delay'] as const);
  world.mapping(queue).isPaused = true;
  later(dice.between(...STALLED_MS), () => {
    world.resume(queue);
  });
  return true;
}

/** The view table loses items, whole or of one kind (rows 34, 87). */
export function loseView({ world, dice }: StepContext): boolean {
  const { host, view, observer } = world;
  // Writers that survive the loss of a table are not what a table is lost with.
  host.killAll();
  view.lose(dice.pick(['', 'META', 'STATE', 'SLICE']));
  observer.forgetView();
  world.coverage.forget();
  return true;
}

/** Backs up and restores the etcd of one world (row 71). */
export class Backups {
  #taken: { readonly atMs: number; readonly etcd: ClusterBackup } | undefined;

  /** Takes a backup the first time, and puts it back when it is old enough. */
  restore({ world }: Pick<StepContext, 'world'>): boolean {
    const { api, clock } = world;
    const atMs = clock.monotonicMs();
    if (this.#taken === undefined) {
      this.#taken = { atMs, etcd: api.backup() };
      return false;
    }
    if (atMs - this.#taken.atMs <= BACKUP_AGE_MIN_MS) return false;
    api.restore(this.#taken.etcd);
    return true;
  }
}

/** One that slept through the backup as well has no renewal to notice the restore by. */
export function restartSleepers(context: StepContext): void {
  for (const process of [...context.world.watchers]) {
    if (!process.clock.isFrozen) continue;
    context.world.stopWatcher(process);
    startWatcher(context);
  }
}

/** Every watcher is awake and hears; what a decider held back is over. */
export function wakeWatchers(world: World, decider: FaultDecider): void {
  decider.isCalm = true;
  for (const process of world.watchers) {
    process.clock.thaw();
    process.source.thaw();
  }
}

function holdCaches(world: World, kinds: readonly WatchedKind[], forMs: number): void {
  const watchers = [...world.watchers];
  for (const { faults } of watchers) for (const kind of kinds) faults.frozen.add(kind);
  world.clock.after(forMs, () => {
    for (const { source } of watchers) source.thaw();
  });
}
