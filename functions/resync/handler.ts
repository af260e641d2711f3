/**
 * `resync`: the schedule that finds what no event will wake (design 3, protocol 17, 23).
 *
 * Goes through the directory of clusters; what one invocation has no time for, the next one does: the
 * walk is kept in the table, and in this process only which cluster an id stood for. Its reads may lag (ADR 0034): all that
 * it concludes is a hint, or rests on a version.
 */
import type { ScheduledEvent } from 'aws-lambda';
import { reportedConnector } from '../../src/app/isolation/reported-access.ts';
import { resyncClusters } from '../../src/app/resync/resync.ts';
import { defaultResyncOptions, WALK_RESERVE_MS } from '../../src/app/resync/dependencies.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler } from '../middleware.ts';

/** The Lambda handler of the schedule. */
export const handler = createHandler<ScheduledEvent, void>({
  name: 'resync',
  makeSeal: makeKmsSeal,
  connects: 'ask',
  readsMayLag: true,
  handle: async (_event, context) => {
    const { log, metrics, remainingMs } = context;
    const { registry, view, connector, queue, resyncProcessCache, clock, random } =
      composition(context);
    await resyncClusters(
      { deadlineMs: clock.monotonicMs() + remainingMs() - WALK_RESERVE_MS },
      {
        registry,
        view,
        connector: reportedConnector(connector, { log, metrics }),
        queue,
        processCache: resyncProcessCache,
        clock,
        random,
        log,
        metrics,
        options: defaultResyncOptions,
      },
    );
  },
});
