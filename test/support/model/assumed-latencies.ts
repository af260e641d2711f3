/**
 * How long things take on AWS, as assumed: from published figures of AWS and of others, autumn 2026. Nothing was measured.
 *
 * Each time is drawn from a log-normal distribution with this median and this 99th percentile, by the seed. What a function
 * computes is told in milliseconds of a whole processor (1,769 MB) and takes longer with less memory; it is that of the
 * engine's profile on a laptop (docs/benchmarks.md, join: some 0.8 ms for each request of the SDK).
 */
import type { Random } from '@rollcall/base/ports/random.ts';

/** A time, and where it is from. */
interface Assumed {
  readonly what: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The assumptions, in the order in which they are printed. */
export const ASSUMED_LATENCIES = {
  watch: { what: 'a change until the watcher has it', p50Ms: 5, p99Ms: 30 },
  sendFromCluster: { what: "a watcher's SendMessage, over the internet", p50Ms: 20, p99Ms: 80 },
  hop: { what: 'a queue, from the send to the invocation', p50Ms: 20, p99Ms: 100 },
  receive: { what: 'a receive from a backlog', p50Ms: 10, p99Ms: 50 },
  invoke: { what: 'what Lambda adds to a warm invocation', p50Ms: 3, p99Ms: 15 },
  coldStart: { what: 'a cold start, import included', p50Ms: 300, p99Ms: 600 },
  send: { what: 'SendMessageBatch, DeleteMessageBatch', p50Ms: 8, p99Ms: 40 },
  get: { what: 'GetItem', p50Ms: 4, p99Ms: 12 },
  'batch-get': { what: 'BatchGetItem', p50Ms: 6, p99Ms: 18 },
  query: { what: 'Query', p50Ms: 5, p99Ms: 15 },
  write: { what: 'PutItem, UpdateItem with a condition', p50Ms: 6, p99Ms: 20 },
  'batch-write': { what: 'BatchExecuteStatement', p50Ms: 9, p99Ms: 30 },
  request: { what: 'a request to an API server, connection open', p50Ms: 20, p99Ms: 60 },
  connect: { what: 'a new connection to an API server, and who it is', p50Ms: 80, p99Ms: 250 },
} as const satisfies Readonly<Record<string, Assumed>>;

export type LatencyName = keyof typeof ASSUMED_LATENCIES;

/** Milliseconds of a whole processor. */
export const ASSUMED_CPU_MS = {
  /** Of an invocation: its event, its answer, its log. */
  invocation: 2,
  /** A request of the SDK: encoding, signing, decoding. */
  awsRequest: 1,
  apiRequest: 0.7,
  /** Decoding, planning and encoding of a run, and of a message, in a cluster of few nodes. */
  run: 3,
  message: 3,
} as const;

/** Megabytes of memory that come with a whole processor. */
export const PROCESSOR_MEGABYTES = 1769;

/** An environment that had nothing to do for this long is gone; AWS says nothing, others saw five to fifteen minutes. */
export const IDLE_ENVIRONMENT_MS = 5 * 60_000;

const P99_DEVIATIONS = 2.326;

/** Draws times. */
export class Latencies {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  draw(name: LatencyName): number {
    const { p50Ms, p99Ms } = ASSUMED_LATENCIES[name];
    const deviation = Math.log(p99Ms / p50Ms) / P99_DEVIATIONS;
    return p50Ms * Math.exp(deviation * this.#normal());
  }

  /** Box and Muller. */
  #normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.#random.next()));
    return radius * Math.cos(2 * Math.PI * this.#random.next());
  }
}
