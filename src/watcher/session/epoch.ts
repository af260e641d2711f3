/**
 * What an epoch of the watcher is told, and what it tells of itself: no logic but two small decisions.
 *
 * The epoch itself is session.ts; what outlives it, the process keeps in {@link ProcessMemory}.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Uid } from '../../core/model/identifiers.ts';
import type { WatchedKind } from '../../core/model/projections.ts';
import type { AnnouncementBody, Marks, Membership } from '../../core/model/watcher-message.ts';
import type { ProcessPorts } from '../../ports/process.ts';
import type { EventQueue } from '../../ports/queues/queue.ts';
import type { WatchSource } from '../../ports/cluster/watch-source.ts';
import type { Sharing } from '../../core/projections/reading.ts';
import type { MessageSize } from '../project/message-size.ts';
import type { WatcherOptions } from './options.ts';
import type { OpaqueReason } from '../project/projection.ts';
import type { EpochHeader } from '../outbox/sender.ts';
import type { Tracked } from '../project/store.ts';

export interface SessionDependencies extends ProcessPorts {
  readonly source: WatchSource;
  readonly queue: EventQueue;
  readonly options: WatcherOptions;
  /** What lives longer than an epoch. */
  readonly memory: ProcessMemory;
}

/** What one process learned, whatever its epoch. */
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

/** Figures of a session, for status and tests. */
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
 * Somebody may wait for the mark to pass an event of this object (faults row 91). Nobody for what a kubelet wrote into a
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
