/**
 * The stack around each handler: middy, an early time-out, Powertools logs and metrics.
 *
 * What a handler throws is logged once, with its class, and thrown on: the event-source mapping redelivers. Everything
 * is awaited: Node 24 does not wait for the event loop. The early time-out is not middy's: the simulation plays this
 * stack on virtual time.
 */
import middy from '@middy/core';
import type { MiddlewareObj } from '@middy/core';
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import type { Context } from 'aws-lambda';
import { createPowertoolsLog } from '../src/adapters/system/logs.ts';
import { createPowertoolsMetrics } from '../src/adapters/system/powertools-metrics.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { FleetRequests } from '../src/adapters/kubernetes/api/manifest-apply.ts';
import type { Seal, TokenPurpose } from '../src/ports/stores/credential-store.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Metrics } from '../src/ports/process.ts';

export interface SealSettings {
  readonly keyArn: string;
  /** Absent in Lambda, where the process has those of its role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Makes what a function opens the tokens of clusters with. */
export type MakeSeal = (settings: SealSettings) => Seal;

/** What tells one function's composition from another's; what no bundle but its own shall hold is given here. */
export interface FunctionParts {
  /** How it opens the tokens of clusters; absent in functions that connect to none. */
  readonly makeSeal?: MakeSeal;
  /** What it connects to clusters for: its role opens no other tokens (infra/roles.yml). */
  readonly connects?: TokenPurpose;
  /** What it reads of the tables may lag: it decides nothing by it (ADR 0034). */
  readonly readsMayLag?: true;
  /** What it sends to clusters besides (manifest-apply.ts); absent in functions that step no fleets. */
  readonly fleetRequests?: FleetRequests;
}

/** What a handler gets beside its event. */
export interface HandlerContext {
  /** Name of the function, as in serverless.yml. */
  readonly functionName: string;
  readonly parts: FunctionParts;
  /** Aborted about 700 ms before the function is stopped. */
  readonly signal: AbortSignal;
  /** Milliseconds until the function is stopped. */
  readonly remainingMs: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface HandlerDefinition<Event, Result> extends FunctionParts {
  /** As in serverless.yml; the `service` of logs and metrics. */
  readonly name: string;
  readonly handle: (event: Event, context: HandlerContext) => Promise<Result>;
}

/** A function as Lambda calls it. */
export type LambdaFunction<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/** Where logs and metrics go. */
export interface Sinks {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What one handler runs on instead of the machine: for simulations. */
export interface Seams {
  readonly sinks: Sinks;
  /** Has the timer of the early time-out. */
  readonly clock: Pick<Clock, 'after'>;
}

/** Reserved for reporting a time-out: log line, metrics, answer; milliseconds. */
export const TIMEOUT_RESERVE_MS = 700;

/** The function was about to be stopped while its handler still ran. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';
}

const MACHINE = createSystemClock();
let replacedSinks: Sinks | undefined;

/** Sends logs and metrics of every handler elsewhere: for the embedded engine and for tests. */
export function useSinks(sinks: Sinks): void {
  replacedSinks = sinks;
}

interface Stack<Event, Result> {
  readonly sinks: Sinks;
  readonly run: LambdaFunction<Event, Result>;
}

/** Rejects shortly before the function is stopped, and tells the work so; what still runs then is Lambda's to freeze. */
async function endEarly<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  limits: { readonly remainingMs: number; readonly clock: Seams['clock'] },
): Promise<Result> {
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  const cancel = limits.clock.after(Math.max(0, limits.remainingMs - TIMEOUT_RESERVE_MS), () => {
    stop.abort();
    late.reject(new HandlerTimeoutError('the handler did not finish in time'));
  });
  try {
    return await Promise.race([work(stop.signal), late.promise]);
  } finally {
    cancel();
  }
}

/** What the deployed stack adds; the one named first is outermost: it sees an error last. */
type Layers<Event, Result> = readonly MiddlewareObj<Event, Result>[];

function createStack<Event, Result>(
  definition: HandlerDefinition<Event, Result>,
  { sinks, clock }: Seams,
  layers: Layers<Event, Result>,
): Stack<Event, Result> {
  const { name, handle, ...parts } = definition;
  const stack = middy<Event, Result>({ timeoutEarlyInMillis: 0 })
    .use([...layers])
    .onError(({ error }) => {
      sinks.metrics.count('HandlerFailures', { outcome: error?.name ?? 'unknown' });
      sinks.log.error('handler failed', { function: name }, error);
    })
    .handler((event, context) => {
      const remainingMs = (): number => context.getRemainingTimeInMillis();
      const given = {
        ...sinks,
        functionName: name,
        parts,
        remainingMs,
      };
      return endEarly((signal) => handle(event, { ...given, signal }), {
        remainingMs: remainingMs(),
        clock,
      });
    });
  return { sinks, run: (event, context) => stack(event, context) };
}

function deployedStack<Event, Result>(
  definition: HandlerDefinition<Event, Result>,
): Stack<Event, Result> {
  const logger = new Logger({ serviceName: definition.name });
  const metrics = createPowertoolsMetrics({
    service: definition.name,
    namespace: process.env['POWERTOOLS_METRICS_NAMESPACE'] ?? 'Rollcall',
  });
  const publish = (): void => {
    metrics.publish();
  };
  const sinks: Sinks = { log: createPowertoolsLog({ logger }), metrics };
  return createStack(definition, { sinks, clock: MACHINE }, [
    { after: publish, onError: publish },
    // Bodies of events are never logged, whatever the environment asks for.
    injectLambdaContext(logger, { resetKeys: true, logEvent: false }),
  ]);
}

/** Composes a handler as Lambda calls it. The stack is made at its first call, or of what a simulation gives. */
export function createHandler<Event, Result>(
  definition: HandlerDefinition<Event, Result>,
  seams?: Seams,
): LambdaFunction<Event, Result> {
  let stack = seams && createStack(definition, seams, []);
  return (event, context) => {
    if (seams === undefined && replacedSinks !== undefined && stack?.sinks !== replacedSinks) {
      stack = createStack(definition, { sinks: replacedSinks, clock: MACHINE }, []);
    }
    stack ??= deployedStack(definition);
    return stack.run(event, context);
  };
}
