/**
 * A reconcile world whose delay queue delivers: timers come back as hints when they are due.
 *
 * Plays one key for a stretch of virtual time and counts its runs: what L5 is about.
 */
import type { ReconcileResult } from '../../src/app/reconcile/run/result.ts';
import { createProcessCache } from '../../src/app/reconcile/process/process-cache.ts';
import { ReconcileWorld } from './reconcile-world.ts';

export interface Stretch {
  readonly runs: number;
  readonly results: readonly ReconcileResult[];
  /** Timers that are on their way at its end. */
  readonly pending: number;
}

/** A world with a delay queue. */
export class TimedWorld extends ReconcileWorld {
  /** True: each run is in a process of its own. */
  isCold = false;
  /** True: the watcher reports nothing, and kubelets stand still. */
  isSilent = false;

  /** One run, by a hint or by a timer. */
  look(reason: ReconcileWorld['reason'] = 'changed'): Promise<ReconcileResult> {
    this.reason = reason;
    return this.run(this.isCold ? { cache: createProcessCache() } : {});
  }

  /** Delivers timers for so long; the watcher reports before each run, and kubelets work. */
  async play(lastsMs: number): Promise<Stretch> {
    const endMs = this.clock.nowMs() + lastsMs;
    const results: ReconcileResult[] = [];
    for (;;) {
      const next = this.#takeNext(endMs);
      if (next === undefined) break;
      await this.clock.advance(Math.max(0, next - this.clock.nowMs()));
      if (!this.isSilent) {
        this.runKubelets();
        await this.mirror.sync();
      }
      results.push(await this.look('due'));
    }
    await this.clock.advance(endMs - this.clock.nowMs());
    return { runs: results.length, results, pending: this.queue.timers.length };
  }

  #takeNext(endMs: number): number | undefined {
    const { timers } = this.queue;
    const soonest = Math.min(...timers.map(({ dueAtMs }) => dueAtMs));
    if (timers.length === 0 || soonest > endMs) return undefined;
    timers.splice(
      timers.findIndex(({ dueAtMs }) => dueAtMs === soonest),
      1,
    );
    return soonest;
  }
}
