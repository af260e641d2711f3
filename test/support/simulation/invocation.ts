/** One invocation of a function: its ports behind its gate, its process, its limits. */
import type { HandlerContext } from '../../../functions/middleware.ts';
import type { IngestProcessCache } from '../../../src/app/ingest/process/dependencies.ts';
import type { ProcessCache } from '../../../src/app/reconcile/process/process-cache.ts';
import type { ResyncProcessCache } from '../../../src/app/resync/dependencies.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { HintQueue, HintReceipts } from '../../../src/ports/queues/queue.ts';
import type { FreezeStore } from '../../../src/ports/stores/freeze-store.ts';
import type { FunctionRegistryStore } from '../../../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../../../src/ports/stores/view-store.ts';
import type { Gate } from './gate.ts';

export interface Process {
  readonly ingestProcessCache: IngestProcessCache;
  readonly processCache: ProcessCache;
  readonly resyncProcessCache: ResyncProcessCache;
  /** An invocation that had run out of time: it stands still until the process is used again (rows 21, 30). */
  left?: Gate;
}

export interface InvocationPorts {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly registry: FunctionRegistryStore;
  readonly freezes: FreezeStore;
  readonly view: ViewStore;
  readonly queue: HintQueue;
  readonly receipts: HintReceipts;
  readonly process: Process;
}

/** An invocation, with what the real stack around handlers gives it. */
export interface Invocation extends InvocationPorts {
  readonly context: HandlerContext;
}
