/**
 * Whether a deployed stack has done what there is to do in a cluster, by the items that its functions write.
 */
import { isDeepStrictEqual } from 'node:util';
import { judgeSettled } from '../../src/cli/start/table.ts';
import type { Stack } from '../../src/cli/reach/stack.ts';
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { Overviews, type ClusterOverview } from '../../src/engine/overview.ts';

/** What is known of a cluster at one moment. */
export interface Progress {
  readonly overview: ClusterOverview;
  /** What is still waited for; undefined when settled. */
  readonly waitingFor?: string;
}

/** Looks at a cluster again and again; remembers since when nothing moves. */
export function createSettlement(
  stack: Stack,
  cluster: ClusterId,
): { readonly look: () => Promise<Progress | undefined> } {
  const overviews = new Overviews({ ...stack, clock: createSystemClock() });
  let last: ClusterOverview | undefined;
  let changedAtMs = performance.now();
  return {
    look: async () => {
      const overview = await overviews.read(cluster);
      if (overview === undefined) return undefined;
      if (!isDeepStrictEqual(overview, last)) changedAtMs = performance.now();
      last = overview;
      const settled = judgeSettled(overview, performance.now() - changedAtMs);
      return settled.kind === 'settled'
        ? { overview }
        : { overview, waitingFor: settled.waitingFor };
    },
  };
}
