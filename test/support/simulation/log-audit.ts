/**
 * S18 from outside: what is sent about pods has an entry of the log, in the state that its run recorded before.
 *
 * It knows what a run stored and what it sends; nothing of the code that it watches but how an entry looks.
 */
import type { Effect } from '../../../src/core/model/effects.ts';
import type { NotedView } from './noted-view.ts';

/** Watches one world. */
export class LogAudit {
  /** Effects that were looked at. */
  judged = 0;
  readonly #report: (text: string) => void;

  constructor(report: (text: string) => void) {
    this.#report = report;
  }

  /** A batch is handed over. */
  check(run: Pick<NotedView, 'isLogged'>, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'create-pod' && effect.kind !== 'delete-pod') continue;
      this.judged += 1;
      const what = effect.kind === 'create-pod' ? 'create' : 'delete';
      if (run.isLogged(what, effect.node ?? effect.name)) continue;
      this.#report(`S18: ${what} ${effect.name} has no entry of the log`);
    }
  }
}
