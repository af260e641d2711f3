/**
 * A sweep: a family of trials, each under a name that replays it alone.
 *
 * Names are `<sweep>/<scene>/<fault>/<number>`. A sweep tells its trials only when asked, since most
 * of them follow from a reference run.
 */

export interface Trial {
  /** `crash/fresh/kill/37`. */
  readonly name: string;
  /** What happens there: `reconcile#3 before access.execute create-pod agent-x`. */
  readonly what: string;
  /** Throws when a promise was broken, or when the planned fault did not fire. */
  readonly play: () => Promise<void>;
}

export interface Sweep {
  readonly name: string;
  /** All its trials, in a fixed order; those of one scene only when a scene is named. */
  readonly trials: (scene?: string) => Promise<readonly Trial[]>;
}

/** A trial that failed. */
export class TrialError extends Error {
  override readonly name = 'TrialError';

  constructor(trial: Trial, cause: unknown) {
    super(`${trial.name} (${trial.what}) failed; it alone: ${replayCommand(trial.name)}`, {
      cause,
    });
  }
}

/** The one command that plays a trial again (M3). */
function replayCommand(name: string): string {
  return `node scripts/launch.mjs test/simulation/systematic/run.ts ${name}`;
}

/** Plays a trial; a failure says which, what happened there, and how to see it again. */
export async function playOne(trial: Trial): Promise<void> {
  try {
    await trial.play();
  } catch (cause) {
    throw new TrialError(trial, cause);
  }
}

/** Every `stride`-th trial, beginning with the `offset`-th. */
export function thin<Item>(items: readonly Item[], stride: number, offset = 0): readonly Item[] {
  return items.filter((_, index) => index % stride === offset % stride);
}
