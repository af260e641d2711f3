// Runs a function once, as Lambda would: with a context, a deadline, and an outcome.
//
// Differs from Lambda where a process cannot: a function that passes its deadline is not stopped. Its invocation
// counts as failed, and the function as a zombie until its promise settles; whatever it still does then must be
// harmless, which is exactly what Rollcall promises of a function that wakes up late.
import type { Context } from 'aws-lambda';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** A function as it is exported by functions/<name>/handler.ts. */
export type LambdaHandler = (event: never, context: Context) => unknown;

/** A function that can be invoked. */
export interface LocalFunction {
  readonly name: string;
  readonly timeoutMs: number;
  readonly memoryMegabytes: number;
  readonly handler: LambdaHandler;
}

/** How an invocation ended. */
export type InvocationOutcome =
  | { readonly kind: 'returned'; readonly answer: unknown }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'timed-out' };

/** What invocations need, and what they count. */
export interface InvocationEnvironment {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly region: string;
  readonly account: string;
  readonly functionNamePrefix: string;
  readonly counts: InvocationCounts;
}

/** What happened so far. `zombies` are functions that run beyond their deadline now, `throttled` tries without a place. */
export interface InvocationCounts {
  throttled: number;
  started: number;
  running: number;
  failed: number;
  timedOut: number;
  zombies: number;
}

/** Counters at zero. */
export function newInvocationCounts(): InvocationCounts {
  return { throttled: 0, started: 0, running: 0, failed: 0, timedOut: 0, zombies: 0 };
}

/** Invokes a function and waits for its answer, its error, or its deadline. Never rejects. */
export function invoke(
  target: LocalFunction,
  event: object,
  environment: InvocationEnvironment,
): Promise<InvocationOutcome> {
  const { clock, counts } = environment;
  const deadlineMs = clock.monotonicMs() + target.timeoutMs;
  counts.started += 1;
  counts.running += 1;
  return new Promise((resolve) => {
    let isOver = false;
    const end = (outcome: InvocationOutcome): void => {
      if (isOver) {
        counts.zombies -= 1;
        return;
      }
      isOver = true;
      counts.running -= 1;
      if (outcome.kind !== 'returned') counts.failed += 1;
      resolve(outcome);
    };
    const cancelDeadline = clock.after(target.timeoutMs, () => {
      end({ kind: 'timed-out' });
      counts.timedOut += 1;
      counts.zombies += 1;
    });
    run(target, event, buildContext(target, deadlineMs, environment)).then(
      (answer) => {
        cancelDeadline();
        end({ kind: 'returned', answer });
      },
      (error: unknown) => {
        cancelDeadline();
        end({ kind: 'threw', error });
      },
    );
  });
}

async function run(target: LocalFunction, event: object, context: Context): Promise<unknown> {
  return target.handler(event as never, context);
}

function buildContext(
  target: LocalFunction,
  deadlineMs: number,
  environment: InvocationEnvironment,
): Context {
  const { clock, region, account } = environment;
  const functionName = `${environment.functionNamePrefix}${target.name}`;
  const unsupported = (): never => {
    throw new Error('Node 24 on Lambda has no callback-style handlers');
  };
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:${region}:${account}:function:${functionName}`,
    memoryLimitInMB: String(target.memoryMegabytes),
    awsRequestId: environment.newId(),
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, Math.round(deadlineMs - clock.monotonicMs())),
    done: unsupported,
    fail: unsupported,
    succeed: unsupported,
  };
}
