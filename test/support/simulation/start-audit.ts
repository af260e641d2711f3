/**
 * Does a create start while its intent says that it may (protocol 5)? S1 stands on it: once that moment and the life of
 * a request have passed, another name may be used.
 *
 * Two texts are held against each request: what its own run recorded before it sent, and what is on record of the name by
 * now. Where runs overlapped, an intent speaks of two requests, and either may start last. Looks at each batch when it is
 * handed over, however long was computed in between.
 */
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';

/** Of one request, in milliseconds of the wall. */
interface StartTimes {
  readonly nowMs: number;
  readonly ownByMs: number | undefined;
}

/** Remembers until when creates may start, by name of the pod; times are those of the wall. */
export class StartAudit {
  readonly #startsByMs = new Map<string, number>();
  readonly #report: (text: string) => void;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** A state was stored. */
  noteState({ intents }: DaemonSetState): void {
    for (const intent of intents) {
      if (intent.kind !== 'create') continue;
      const lastMs = Math.max(intent.startsByMs, intent.earlier?.startsByMs ?? 0);
      this.#startsByMs.set(intent.name, lastMs);
    }
  }

  /** A create starts; `ownByMs`: until when its run recorded that it may; undefined: it recorded nothing. */
  check({ name }: Pick<CreatePodEffect, 'name'>, at: StartTimes): void {
    const { nowMs, ownByMs = Infinity } = at;
    const latestMs = Math.min(this.#startsByMs.get(name) ?? Infinity, ownByMs);
    if (nowMs <= latestMs) return;
    this.#report(`S1: ${name} is asked for ${nowMs - latestMs} ms after its intent is over`);
  }
}
