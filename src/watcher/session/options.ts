/**
 * Every bound of the watcher in one place, with the defaults of design 2.
 *
 * Tests and the simulation shorten some; a deployment has no reason to.
 */
import type { LeaseOptions } from '../lease/lease.ts';
import type { ListWatchOptions } from '../observe/list-watch.ts';
import type { FlushOptions, HeartbeatOptions } from '../outbox/flush-schedule.ts';
import type { MessageOptions } from '../outbox/publisher.ts';

/** Bounds of a watcher; times in milliseconds. */
export interface WatcherOptions extends MessageOptions {
  readonly flush: FlushOptions;
  /** Encoded size of a message (design 2: 256 KiB, of which the age beside it takes some). */
  readonly messageBytesMax: number;
  /** Projections above travel opaque; small enough that any one fits a message uncompressed. */
  readonly objectBytesMax: number;
  /** A snapshot without being asked (protocol 17); jittered by a tenth. */
  readonly snapshotMs: number;
  readonly sendBackoffBaseMs: number;
  readonly sendBackoffCapMs: number;
  /** Between epochs that ended in a refused body or a bug. */
  readonly epochBackoffBaseMs: number;
  readonly epochBackoffCapMs: number;
  readonly heartbeat: HeartbeatOptions;
  readonly listWatch: ListWatchOptions;
  readonly lease: LeaseOptions;
}

/** What a deployed watcher runs with. */
export const DEFAULT_WATCHER_OPTIONS: WatcherOptions = {
  flush: {
    waitMs: {
      urgent: 5,
      normal: 5,
      calm: 1_000,
      detail: 5_000,
      aside: Infinity,
    },
    intervalMs: 250,
    intervalMsMax: 2_000,
    intervalMsPerSlice: 12,
    intervalMsPerObject: 0.25,
    urgentTokensMax: 4,
  },
  messageBytesMax: 256 * 1024 - 64,
  deltasPerMessageMax: 2000,
  objectBytesMax: 150 * 1024,
  sliceBytesMax: 300 * 1024,
  snapshotMs: 6 * 60 * 60 * 1000,
  sendBackoffBaseMs: 100,
  sendBackoffCapMs: 30_000,
  epochBackoffBaseMs: 1000,
  epochBackoffCapMs: 10 * 60 * 1000,
  heartbeat: { rolloutMs: 30_000, idleMs: 13 * 60 * 1000 },
  listWatch: {
    isWatchListWanted: true,
    pageLimit: 500,
    streamSecondsMin: 240,
    streamSecondsMax: 480,
    // The API server sends a bookmark about once a minute.
    silenceMsMax: 150_000,
    backoffBaseMs: 100,
    backoffCapMs: 30_000,
  },
  lease: {
    start: 'take',
    renewMs: 10_000,
    durationMs: 40_000,
    backoffBaseMs: 200,
    backoffCapMs: 30_000,
  },
};
