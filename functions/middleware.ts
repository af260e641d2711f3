/**
 * The stack around each handler: middy with early time-out, Powertools logs and metrics.
 *
 * A handler gets its event and a context, and returns its result; what it throws is logged once, with
 * its class, and thrown on: the event-source mapping redelivers. The signal is aborted 700 ms before
 * the function is stopped, so that metrics are still written. Everything is awaited: Node 24 does not
 * wait for the event loop. The embedded engine replaces the sinks (`useSinks`), nothing else.
 */
import middy from '@middy/core';
import type { MiddlewareObj } from '@middy/core';
import { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import type { Context } from 'aws-lambda';
import { createPowertoolsLog } from '../src/adapters/system/powertools-log.ts';
import { createPowertoolsMetrics } from '../src/adapters/system/powertools-metrics.ts';
import type { Seal, TokenPurpose } from '../src/ports/credential-store.ts';
import type { Log } from '../src/ports/log.ts';
import type { Metrics } from '../src/ports/metrics.ts';

/** What a function's seal is made of. */
export interface SealSettings {
  readonly keyArn: string;
  /** Absent in Lambda, where the process has those of its role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Makes what a function opens the tokens of clusters with. */
export type MakeSeal = (settings: SealSettings) => Seal;

/** What a handler gets beside its event. */
export interface HandlerContext {
  /** Name of the function, as in serverless.yml. */
  readonly functionName: string;
  /** Absent in functions that connect to no cluster. */
  readonly makeSeal?: MakeSeal;
  /** Which tokens it connects with; absent in functions that connect to no cluster. */
  readonly connects?: TokenPurpose;
  /** Aborted about 700 ms before the function is stopped. */
  readonly signal: AbortSignal;
  /** Milliseconds until the function is stopped. */
  readonly remainingMs: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** One function. */
export interface HandlerDefinition<Event, Result> {
  /** As in serverless.yml; the `service` of logs and metrics. */
  readonly name: string;
  /** How it opens the tokens of clusters; a function that connects to none leaves it out. */
  readonly makeSeal?: MakeSeal;
  /** What it connects to clusters for: its role opens no other tokens (infra/roles.yml). */
  readonly connects?: TokenPurpose;
  readonly handle: (event: Event, context: HandlerContext) => Promise<Result>;
}

/** A function as Lambda calls it. */
export type LambdaFunction<Event, Result> = (event: Event, context: Context) => Promise<Result>;

/** Where logs and metrics go. */
export interface Sinks {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Reserved for reporting a time-out: log line, metrics, answer; milliseconds. */
export const TIMEOUT_RESERVE_MS = 700;

/** The function was about to be stopped while its handler still ran. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';
}

let replacedSinks: Sinks | undefined;

/** Sends logs and metrics of every handler elsewhere: for the embedded engine and for tests. */
export function useSinks(sinks: Sinks): void {
  replacedSinks = sinks;
}

interface Stack<Event, Result> {
  readonly sinks: Sinks;
  readonly run: LambdaFunction<Event, Result>;
}

function throwTimeout(): never {
  throw new HandlerTimeoutError('the handler did not finish in time');
}

/** What the deployed stack adds; the one named first is outermost: it sees an error last. */
type Layers<Event, Result> = readonly MiddlewareObj<Event, Result>[];

function createStack<Event, Result>(
  definition: HandlerDefinition<Event, Result>,
  sinks: Sinks,
  layers: Layers<Event, Result>,
): Stack<Event, Result> {
  const { name, handle, makeSeal, connects } = definition;
  const stack = middy<Event, Result>({
    timeoutEarlyInMillis: TIMEOUT_RESERVE_MS,
    timeoutEarlyResponse: throwTimeout,
  })
    .use([...layers])
    .onError(({ error }) => {
      sinks.metrics.count('HandlerFailures', { outcome: error?.name ?? 'unknown' });
      sinks.log.error('handler failed', { function: name }, error);
    })
    .handler((event, context, { signal }) =>
      handle(event, {
        ...sinks,
        functionName: name,
        ...(makeSeal === undefined ? {} : { makeSeal }),
        ...(connects === undefined ? {} : { connects }),
        signal,
        remainingMs: () => context.getRemainingTimeInMillis(),
      }),
    );
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
  return createStack(definition, sinks, [
    { after: publish, onError: publish },
    // Bodies of events are never logged, whatever the environment asks for.
    injectLambdaContext(logger, { resetKeys: true, logEvent: false }),
  ]);
}

/** Composes a handler as Lambda calls it. The stack is made at its first call. */
export function createHandler<Event, Result>(
  definition: HandlerDefinition<Event, Result>,
): LambdaFunction<Event, Result> {
  let stack: Stack<Event, Result> | undefined;
  return (event, context) => {
    if (replacedSinks !== undefined && stack?.sinks !== replacedSinks) {
      stack = createStack(definition, replacedSinks, []);
    }
    stack ??= deployedStack(definition);
    return stack.run(event, context);
  };
}
