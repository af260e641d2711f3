/**
 * The deployed handlers, loaded into this process by the names that serverless.yml gives them.
 *
 * They are imported only when their environment stands. The engine replaces nothing in them but the
 * sinks of logs and metrics.
 */
import { useSinks } from '../../functions/middleware.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { LambdaHandler } from './aws/event-source-mapping/invocation.ts';

/** Loads all handlers. */
export async function loadHandlers(sinks: {
  readonly log: Log;
  readonly metrics: Metrics;
}): Promise<Readonly<Record<string, LambdaHandler>>> {
  useSinks(sinks);
  const [ingest, reconcile, requeue, resync, deadLetter] = await Promise.all([
    import('../../functions/ingest/handler.ts'),
    import('../../functions/reconcile/handler.ts'),
    import('../../functions/requeue/handler.ts'),
    import('../../functions/resync/handler.ts'),
    import('../../functions/dead-letter/handler.ts'),
  ]);
  return {
    ingest: ingest.handler,
    reconcile: reconcile.handler,
    requeue: requeue.handler,
    resync: resync.handler,
    'dead-letter': deadLetter.handler,
  };
}
