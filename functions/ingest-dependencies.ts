/**
 * What `ingest` runs on, and `dead-letter` as well: a lost event is a matter of the same view.
 */
import { reportedConnector } from '../src/app/isolation/reported-access.ts';
import { defaultIngestOptions } from '../src/app/ingest/process/dependencies.ts';
import type { IngestDependencies } from '../src/app/ingest/process/dependencies.ts';
import { composition } from './composition.ts';
import type { HandlerContext } from './middleware.ts';

/** Ports, bounds and warm memory of this process, with the sinks of this invocation. */
export function ingestDependencies(context: HandlerContext): IngestDependencies {
  const { log, metrics } = context;
  const { registry, view, connector, queue, clock, random, ingestProcessCache } =
    composition(context);
  return {
    registry,
    view,
    connector: reportedConnector(connector, { log, metrics }),
    queue,
    clock,
    random,
    log,
    metrics,
    options: defaultIngestOptions,
    processCache: ingestProcessCache,
  };
}
