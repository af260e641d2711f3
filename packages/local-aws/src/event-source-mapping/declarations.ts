/**
 * What a set of mappings is told: which functions there are, and which queues and schedules call them.
 *
 * As a template declares it, without the template: the reader of one (serverless.yml, a test) says it in these words.
 */

/** A mapping from a queue to a function. */
export interface QueueMapping {
  readonly queueId: string;
  readonly batchSize: number;
  readonly reportsBatchItemFailures: boolean;
  readonly maximumConcurrency: number | undefined;
}

/** A function with all that calls it. */
export interface MappedFunction {
  readonly name: string;
  readonly timeoutMs: number;
  readonly memoryMegabytes: number;
  readonly queueMappings: readonly QueueMapping[];
  /** The periods of its schedules. */
  readonly schedulePeriodsMs: readonly number[];
}

/** The functions of one stage of a service; names in AWS begin with `service-stage-`. */
export interface MappedService {
  readonly service: string;
  readonly stage: string;
  readonly region: string;
  readonly functions: readonly MappedFunction[];
}

/** Where a created queue is. */
export interface CreatedQueue {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}
