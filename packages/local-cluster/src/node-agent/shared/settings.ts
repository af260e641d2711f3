/**
 * What can be set about a node agent: intervals, time-outs, and the static pods of its machine.
 *
 * The defaults are the kubelet's, but for the part of a shutdown that is kept for critical pods (there the whole
 * graceful shutdown is off unless it is configured). Jitter is added where a setting is used. Back-offs of images and
 * containers are not settings: spec node-agent 5 and 6 fix them.
 */
import type { JsonObject } from '@rollcall/base/json.ts';

/** Intervals in milliseconds. */
export interface NodeAgentSettings {
  /** Renewal of the node's Lease. */
  readonly leaseRenewMs: number;
  readonly leaseDurationSeconds: number;
  /** Node status is written at least this often. */
  readonly nodeStatusReportMs: number;
  /** A pod is synced again after this, plus up to half of it. */
  readonly resyncMs: number;
  /** Delay after a failed sync, plus up to half of it. */
  readonly syncBackOffMs: number;
  /** How soon a change that the runtime does not report is looked at. */
  readonly relistMs: number;
  readonly housekeepingMs: number;
  /** How long one sync waits for volumes. */
  readonly volumeTimeoutMs: number;
  /** How long a pressure condition outlasts its pressure. */
  readonly pressureTransitionMs: number;
  /** How often pressure evicts one more pod. */
  readonly evictionIntervalMs: number;
  /** Seconds of a graceful shutdown kept for critical pods. */
  readonly shutdownCriticalSeconds: number;
  /** Static pods: what the files of the manifest directory hold; called back whenever they change. */
  readonly staticPods: StaticPodFiles;
}

/** The static-pod directory of the machine. */
export interface StaticPodFiles {
  readonly list: () => readonly JsonObject[];
  /** Calls back after each change; returns how to stop. */
  readonly onChange: (listener: () => void) => () => void;
}

const NO_STATIC_PODS: StaticPodFiles = {
  list: () => [],
  onChange: () => () => undefined,
};

/** The kubelet's values. */
export const DEFAULT_SETTINGS: NodeAgentSettings = {
  leaseRenewMs: 10_000,
  leaseDurationSeconds: 40,
  nodeStatusReportMs: 5 * 60_000,
  resyncMs: 60_000,
  syncBackOffMs: 10_000,
  relistMs: 1000,
  housekeepingMs: 2000,
  volumeTimeoutMs: 123_000,
  pressureTransitionMs: 5 * 60_000,
  evictionIntervalMs: 10_000,
  shutdownCriticalSeconds: 10,
  staticPods: NO_STATIC_PODS,
};
