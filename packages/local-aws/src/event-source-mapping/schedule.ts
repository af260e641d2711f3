// Runs a function on a schedule, as EventBridge would with rate(...).
//
// The first firing comes one period after the start. A firing does not wait for the one before it, as on Lambda. The
// event names the time; a failure is reported and not retried, the next firing being the retry.
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import { invoke, type InvocationEnvironment, type LocalFunction } from './invocation.ts';
import { toScheduledEvent } from './lambda-event.ts';

/** A function with its period. */
export interface ScheduleOptions {
  readonly target: LocalFunction;
  readonly periodMs: number;
  readonly environment: InvocationEnvironment;
  readonly onFailure: (failure: { functionName: string; message: string; error?: unknown }) => void;
}

/** A running schedule. */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #running = new Set<Promise<void>>();
  #cancelNext: Cancel | undefined;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** Starts the schedule. */
  start(): void {
    this.#cancelNext = this.#options.environment.clock.after(this.#options.periodMs, () => {
      this.start();
      void this.fire();
    });
  }

  /** Fires now, beside the schedule; resolves when the function has ended. */
  fire(): Promise<void> {
    const run = this.#invoke().finally(() => this.#running.delete(run));
    this.#running.add(run);
    return run;
  }

  /** Stops the schedule; resolves when what is in work has ended. */
  async stop(): Promise<void> {
    this.#cancelNext?.();
    await Promise.all(this.#running);
  }

  async #invoke(): Promise<void> {
    const { target, environment, onFailure } = this.#options;
    const { region, account, clock, newId, functionNamePrefix } = environment;
    const ruleName = `${functionNamePrefix}${target.name}`;
    const firing = { id: newId(), atMs: clock.nowMs(), region, account, ruleName };
    const outcome = await invoke(target, toScheduledEvent(firing), environment);
    const functionName = target.name;
    if (outcome.kind === 'threw') {
      onFailure({ functionName, message: 'the function threw', error: outcome.error });
    } else if (outcome.kind === 'timed-out') {
      onFailure({ functionName, message: `the function ran longer than ${target.timeoutMs} ms` });
    }
  }
}
