/**
 * A queue as CloudWatch sees it minute by minute (aws-rules F9): the age of the oldest message leaves out every message that
 * was received three times, until it is consumed; counts do not.
 */

/** A message that waits: since when, and how often it was received. */
interface ModelMessage {
  readonly sentAtS: number;
  readonly receives: number;
  readonly isInFlight: boolean;
}

export interface QueueMinute {
  readonly nowS: number;
  readonly messages: readonly ModelMessage[];
  /** Finished within the minute. */
  readonly deleted: number;
}

const RECEIVES_OF_AGE_MAX = 2;

/** What SQS reports of a minute, by the name of the metric. */
export function metricsOfQueue({ nowS, messages, deleted }: QueueMinute): Record<string, number> {
  const ages = messages
    .filter(({ receives }) => receives <= RECEIVES_OF_AGE_MAX)
    .map(({ sentAtS }) => nowS - sentAtS);
  return {
    ApproximateAgeOfOldestMessage: Math.max(0, ...ages),
    ApproximateNumberOfMessagesVisible: messages.filter((one) => !one.isInFlight).length,
    ApproximateNumberOfMessagesNotVisible: messages.filter((one) => one.isInFlight).length,
    NumberOfMessagesDeleted: deleted,
  };
}
