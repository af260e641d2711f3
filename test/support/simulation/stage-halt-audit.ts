/**
 * S16 from outside, of a halt: once an operator's pause or a breach stands, no more is replaced than was under way.
 *
 * An order, and a breach, take effect when they are written, and what runs had recorded by then is one batch within the
 * budget, all of it over once their time is. A pause in the annotation has to be heard of first. A breach of a revision
 * stays in the record until somebody resumes it: runs may not forget it. Records are looked at for breaches, and for nothing else.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { OLD_MS, UNDER_WAY_MS } from './staged-pods.ts';
import type { RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { DaemonSetRef } from '../../../src/ports/stores/view-store.ts';

interface Pause {
  readonly atMs: number;
  /** UIDs of pods that went since. */
  readonly gone: Set<string>;
}

interface Breached extends Pause {
  readonly hash: string;
}

/** Watches one cluster. */
export class HaltAudit {
  /** Replacements that met a pause. */
  judged = 0;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #ordered = new Map<string, Pause>();
  readonly #written = new Map<string, Pause>();
  /** The record of a DaemonSet as it stands, past all faults; undefined: there is none. */
  recordOf: (uid: string) => RolloutRecord | undefined = () => undefined;
  readonly #breached = new Map<string, Breached>();
  readonly #everBreached = new Set<string>();
  readonly #resumedAtMs = new Map<string, number>();
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
    this.#resumedAtMs.set(uid, this.#clock.monotonicMs());
  }

  /** True if a breach of it was ever recorded. */
  hasHalted(uid: string): boolean {
    return this.#everBreached.has(uid);
  }

  /** What runs had recorded is lost. */
  forget(): void {
    this.#breached.clear();
  }

  /** A run wrote a state: the arguments of that write. */
  noteWrite(input: readonly unknown[]): void {
    const [{ uid }, { rollout }] = input as [DaemonSetRef, DaemonSetState];
    const former = this.#breached.get(uid);
    if (rollout?.breach !== undefined) {
      if (former?.hash === rollout.hash) return;
      this.#everBreached.add(uid);
      const { cause, nodes } = rollout.breach;
      if (cause === 'NodesFailed' && new Set(nodes).size < 2)
        this.#report(`S16: revision ${rollout.hash} is halted for ${nodes.join()} alone`);
      this.#breached.set(uid, { ...this.#pauseNow(), hash: rollout.hash });
      return;
    }
    this.#breached.delete(uid);
    if (former === undefined || former.hash !== rollout?.hash) return;
    if ((this.#resumedAtMs.get(uid) ?? -Infinity) >= former.atMs) return;
    this.#report(`S16: the halt of revision ${former.hash} is forgotten, and nobody resumed it`);
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
    if (ordered !== undefined) this.#judgeHalt(victim, { uid, halt: ordered, what: 'pause' });
    const breached = this.#breached.get(uid);
    const isStanding = this.recordOf(uid)?.breach !== undefined;
    if (breached !== undefined && isStanding) {
      this.#judgeHalt(victim, { uid, halt: breached, what: 'breach' });
    }
  }

  #judgeHalt(
    { metadata }: KubernetesObject,
    { uid, halt, what }: { readonly uid: string; readonly halt: Pause; readonly what: string },
  ): void {
    this.judged += 1;
    halt.gone.add(metadata.uid);
    const sinceMs = this.#clock.monotonicMs() - halt.atMs;
    const most = this.#unavailableMax.get(uid) ?? Infinity;
    if (sinceMs <= UNDER_WAY_MS && halt.gone.size <= most) return;
    const { size } = halt.gone;
    this.#report(`S16: ${metadata.name} goes as number ${size}, ${sinceMs} ms after a ${what}`);
  }

  #pauseNow(): Pause {
    return { atMs: this.#clock.monotonicMs(), gone: new Set() };
  }
}
