/**
 * Plays a script over the clusters of `npm start`: steps in order, each of which waits, and then acts.
 *
 * A step waits for what the functions have recorded, never for a time of its own; the command's deadline ends a
 * play that waits for ever. A step that fails ends the program: there is nothing to watch then.
 */
import type { ClusterOverview } from '../../engine/overview.ts';
import type { Line } from '../command-line/colour.ts';

export interface Seen {
  readonly clusters: readonly ClusterOverview[];
  readonly isSettled: boolean;
}

/** `look-again`: what the next step waits for is seen with the next look. */
export type Went = 'look-again' | 'go-on' | 'over';

export interface Step {
  /** The condition that it waits for, as the command says it. */
  readonly title: string;
  readonly isDue: (seen: Seen) => boolean;
  readonly act: (seen: Seen) => Went | Promise<Went>;
}

/** A script that is played: one with the first `advance`, and over when that answers nothing. */
export interface Play<Report = unknown> {
  /** Looks at the clusters, and does what is due. What it waits for; undefined: it ended. */
  readonly advance: (seen: Seen) => Promise<string | undefined>;
  /** Its lines in place of the clusters' tables; absent: the tables show it. */
  readonly lines?: () => readonly Line[];
  /** Its part of the JSON document. */
  readonly report?: () => Report;
  /** Resolves when nothing of it is under way. */
  readonly idle?: () => Promise<void>;
}

export function playSteps(steps: readonly Step[]): Play['advance'] {
  const left = [...steps];
  return async (seen) => {
    for (let step = left[0]; step !== undefined; step = left[0]) {
      if (!step.isDue(seen)) return step.title;
      left.shift();
      const went = await step.act(seen);
      if (went === 'over') left.length = 0;
      if (went === 'look-again') return left[0]?.title;
    }
    return undefined;
  };
}
