/** Times and names of kube-scheduler 1.36. */

/** First back-off of a pod that found no node. */
export const PODS_BACKOFF_INITIAL_MS = 1000;
/** Longest back-off. */
export const PODS_BACKOFF_MAX_MS = 10_000;
/** A pod is tried again after so long although nothing happened. */
export const PODS_FLUSH_MS = 5 * 60_000;
/** The scheduler's name in spec.schedulerName and in events. */
export const SCHEDULER_NAME = 'default-scheduler';
