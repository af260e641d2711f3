/** Every bound of the watcher in one place (design 2; tests shorten some), and what an epoch is told and tells of itself. */
import type { LeaseOptions } from '../lease/lease.ts';
import type { ListWatchOptions } from '../observe/list-watch.ts';
import type { FlushOptions, HeartbeatOptions } from '../outbox/flush-schedule.ts';
import type { MessageOptions } from '../outbox/publisher.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import type { AnnouncementBody, Marks, Membership } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { EventQueue } from '../../ports/queues/queue.ts';
import type { WatchSource } from '../../ports/cluster/watch-source.ts';
import type { Sharing } from '../../core/projections/raw-fields.ts';
import type { MessageSize } from '../project/message-size.ts';
import type { OpaqueReason } from '../project/projection.ts';
import type { EpochHeader } from '../outbox/sender.ts';
import type { Tracked } from '../project/store.ts';

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

/** The options of a deployed watcher. */
export const DEFAULT_WATCHER_OPTIONS: WatcherOptions = {
  flush: {
    waitMs: {
      urgent: 5,
      awaited: 5,
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

export interface SessionDependencies extends ProcessPorts {
  readonly source: WatchSource;
  readonly queue: EventQueue;
  readonly options: WatcherOptions;
  /** State that lives longer than an epoch. */
  readonly memory: ProcessMemory;
}

export interface ProcessMemory {
  readonly size: MessageSize;
  readonly unsendable: Map<Uid, OpaqueReason>;
  readonly interner: Sharing;
  /** Slice count of the last snapshot: saves the next epoch a second announcement. */
  sliceCount: number;
}

export interface SessionStart {
  readonly header: EpochHeader;
  readonly reason: AnnouncementBody['reason'];
  readonly requestId: string | undefined;
}

/** Why an epoch ended. `refused`: the queue refused a body. `failed`: a bug. */
export type SessionEnd = 'stopped' | 'lost' | 'missing' | 'restored' | 'refused' | 'failed';

export type SessionPhase = 'announcing' | 'listing' | 'snapshot' | 'steady';

export interface SessionStatus {
  readonly phase: SessionPhase;
  readonly seq: number;
  readonly marks: Marks;
  readonly objects: Readonly<Record<WatchedKind, number>>;
  /** Objects whose newest state was not sent yet. */
  readonly waiting: number;
  readonly sliceCount: number;
  readonly hasRollout: boolean;
  readonly lastAcceptedMs: number | undefined;
}

/**
 * A run may wait for the mark to pass an event of this object (faults row 91), but not for what a kubelet wrote into a
 * status: no run writes there, and one that waits for a pod to change waits for the change.
 */
export function isAwaited(tracked: Tracked, sets: readonly Membership[]): boolean {
  return tracked.of !== 'Node' && sets.length > 0 && tracked.slim?.isStatusWrite !== true;
}

/** An announcement with the id of the request that it answers, if it answers one. */
export function announcement(
  reason: AnnouncementBody['reason'],
  sliceCount: number,
  requestId?: string,
): Omit<AnnouncementBody, 'kind'> {
  return { sliceCount, reason, ...defined({ requestId }) };
}
