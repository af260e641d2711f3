/**
 * `resync`: the schedule that finds what no event will wake (design 3, protocol 17, 23).
 *
 * Goes through the directory of clusters; what one invocation has no time for, the next one does: the
 * cursor is kept in this process, and a lost cursor only means to begin again.
 */
import type { ScheduledEvent } from 'aws-lambda';
import { defaultResyncOptions, resyncClusters } from '../../src/app/resync.ts';
import { reportedConnector } from '../../src/app/reported-connector.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler } from '../middleware.ts';

/** Kept back for the last cluster begun. */
const RESERVE_MS = 5000;

let cursor: string | undefined;

/** The Lambda handler of the schedule. */
export const handler = createHandler<ScheduledEvent, void>({
  name: 'resync',
  makeSeal: makeKmsSeal,
  handle: async (_event, context) => {
    const { log, metrics, remainingMs } = context;
    const { registry, view, connector, queue, clock, random } = composition(context);
    const result = await resyncClusters(
      {
        deadlineMs: clock.monotonicMs() + remainingMs() - RESERVE_MS,
        ...(cursor === undefined ? {} : { cursor }),
      },
      {
        registry,
        view,
        connector: reportedConnector(connector, { log, metrics }),
        queue,
        clock,
        random,
        log,
        metrics,
        options: defaultResyncOptions,
      },
    );
    cursor = result.cursor;
  },
});
