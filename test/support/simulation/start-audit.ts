/**
 * Does a create start while its intent says that it may (protocol 5)? S1 stands on it: once that moment and the life of
 * a request have passed, another name may be used.
 *
 * Reads what was recorded, and looks at each batch when it is handed over, however long was computed in between.
 */
import { startsByMs } from '../../../src/core/pod/request-life.ts';
import type { CreatePodEffect } from '../../../src/core/model/effects.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';

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
      if (intent.kind === 'create') this.#startsByMs.set(intent.name, startsByMs(intent));
    }
  }

  /** A create starts. */
  check({ name }: CreatePodEffect, nowMs: number): void {
    const latestMs = this.#startsByMs.get(name);
    if (latestMs === undefined || nowMs <= latestMs) return;
    this.#report(`S1: ${name} is asked for ${nowMs - latestMs} ms after its intent is over`);
  }
}
