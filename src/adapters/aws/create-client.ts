/**
 * Every AWS client of functions, watcher and command line is made here, so that no call is without a limit.
 *
 * The SDK has none: a dead socket holds a call to the function's end. `requestTimeout` ends with the answer's first
 * line, a body that stands still has socketTimeout, and one that drips is bounded by who calls. Linter: `new …Client(`
 * is refused elsewhere.
 */
import { Sha256 } from '@rollcall/base/system/sha256.ts';

/** How long one call may take, and how often it is tried. */
export interface CallLimits {
  /** Until a connection stands, in milliseconds. */
  readonly connectionTimeoutMs: number;
  /** From an attempt's start to its answer's first line, and of silence within the answer; milliseconds. */
  readonly requestTimeoutMs: number;
  readonly attemptsMax: number;
}

/** The limits by who calls. `worstCallMs` says what they add up to. */
export const CALL_LIMITS = {
  /**
   * Below the 9.3 s that a function of ten seconds has (functions/middleware.ts). After a freeze several kept
   * connections may be dead, each costs an attempt: four short ones are worth more than three of three seconds.
   */
  function: { connectionTimeoutMs: 1000, requestTimeoutMs: 2000, attemptsMax: 4 },
  /** The watcher: 256 KiB over a far, thin line; it repeats a send itself, one at a time. */
  watcher: { connectionTimeoutMs: 3000, requestTimeoutMs: 10_000, attemptsMax: 1 },
  /** The renewer: some KiB over such a line; two attempts fit into its 5 s for the key service. */
  renewer: { connectionTimeoutMs: 2000, requestTimeoutMs: 2400, attemptsMax: 4 },
  /** A person waits, and would rather wait than repeat. */
  command: { connectionTimeoutMs: 3000, requestTimeoutMs: 10_000, attemptsMax: 3 },
} as const satisfies Readonly<Record<string, CallLimits>>;

/** The SDK's first pause before a repeat, at most; it doubles. */
const FIRST_PAUSE_MS = 100;

/** The longest that a call takes which is never answered, in milliseconds: attempts and the pauses between. */
export function worstCallMs({ requestTimeoutMs, attemptsMax }: CallLimits): number {
  return requestTimeoutMs * attemptsMax + FIRST_PAUSE_MS * (2 ** (attemptsMax - 1) - 1);
}

/** Makes an AWS client under limits. What `config` says of attempts or connections is overruled. */
export function createAwsClient<Config extends object, Client extends object>(
  make: new (config: Config) => Client,
  limits: CallLimits,
  config: Config,
): Client {
  const { connectionTimeoutMs, requestTimeoutMs, attemptsMax } = limits;
  return new make({
    ...config,
    maxAttempts: attemptsMax,
    retryMode: 'standard',
    sha256: Sha256,
    customUserAgent: 'rollcall',
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: requestTimeoutMs,
    },
  });
}
