/**
 * S16 from outside, of a halt: once an operator's pause stands, no more is replaced than was under way.
 *
 * An order takes effect when it is written, and what runs had recorded by then is one batch within the budget, all of it over
 * once their time is. A pause in the annotation has to be heard of first.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { OLD_MS, UNDER_WAY_MS } from './staged-pods.ts';

interface Pause {
  readonly atMs: number;
  /** UIDs of pods that went since. */
  readonly gone: Set<string>;
}

/** Watches one cluster. */
export class HaltAudit {
  /** Replacements that met a pause. */
  judged = 0;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #ordered = new Map<string, Pause>();
  readonly #written = new Map<string, Pause>();
  readonly #unavailableMax = new Map<string, number>();

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** An operator paused the rollouts of a DaemonSet, and was told so. */
  notePause(uid: string): void {
    if (!this.#ordered.has(uid)) this.#ordered.set(uid, this.#pauseNow());
  }

  /** He is about to take them up again. */
  noteResume(uid: string): void {
    this.#ordered.delete(uid);
  }

  /** How the policy of a DaemonSet stands; undefined: there is none. */
  noteSet(uid: string, policy: RolloutPolicy | undefined): void {
    const share = policy?.maxUnavailable;
    if (share?.kind === 'count') this.#unavailableMax.set(uid, share.count);
    else this.#unavailableMax.delete(uid);
    if (policy?.isPaused !== true) this.#written.delete(uid);
    else if (!this.#written.has(uid)) this.#written.set(uid, this.#pauseNow());
  }

  /** A delete of ours takes a live pod from where it belongs, for the template's revision. */
  judge(victim: KubernetesObject, uid: string): void {
    const { name } = victim.metadata;
    const nowMs = this.#clock.monotonicMs();
    const written = this.#written.get(uid);
    if (written !== undefined) {
      this.judged += 1;
      const sinceMs = nowMs - written.atMs;
      if (sinceMs > OLD_MS)
        this.#report(`S16: ${name} goes ${sinceMs} ms after a pause in the annotation`);
    }
    const ordered = this.#ordered.get(uid);
    if (ordered === undefined) return;
    this.judged += 1;
    ordered.gone.add(victim.metadata.uid);
    const sinceMs = nowMs - ordered.atMs;
    const most = this.#unavailableMax.get(uid) ?? Infinity;
    if (sinceMs <= UNDER_WAY_MS && ordered.gone.size <= most) return;
    this.#report(`S16: ${name} goes as number ${ordered.gone.size}, ${sinceMs} ms after a pause`);
  }

  #pauseNow(): Pause {
    return { atMs: this.#clock.monotonicMs(), gone: new Set() };
  }
}
