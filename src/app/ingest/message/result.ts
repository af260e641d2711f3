/**
 * What came of one message: a closed union, so that a handler decides by kind and never by text.
 *
 * Only `deferred` leaves the record to its redelivery; everything else is finished business. A lost
 * dependency (a table that throttles, a queue that refuses) is a rejection, not a result.
 */
import type { WatcherHeader, WatcherMessage } from '../../../core/model/watcher-message.ts';

/** Why a message was refused. The first four are about who sent it (S6, protocol 24). */
export type IngestRefusalCode =
  | 'wrong-group'
  | 'unknown-cluster'
  | 'wrong-sender'
  | 'wrong-cluster-uid'
  | 'undecodable'
  | 'oversized'
  | 'unsupported-schema'
  | 'invalid';

/** Why a view stopped being complete. */
export type LossReason =
  | 'seq-skipped'
  | 'undecodable'
  | 'set-hash'
  | 'new-epoch'
  | 'new-cluster'
  | 'restored'
  | 'snapshot-broken'
  | 'snapshot-hash'
  | 'dead-letter'
  | 'slice-missing'
  | 'item-too-large'
  | 'era-unconfirmed'
  | 'stamp-ahead';

/** Result of one message. */
export type IngestResult =
  | { readonly kind: 'applied'; readonly hints: number; readonly isComplete: boolean }
  /** Its seq was applied before: only its hints were sent again. */
  | { readonly kind: 'duplicate'; readonly hints: number }
  /** The view waits for a snapshot announced after the loss; the content was left aside. */
  | { readonly kind: 'awaiting-snapshot' }
  /** This message showed that something is missing: the view is incomplete now. */
  | { readonly kind: 'incomplete'; readonly reason: LossReason }
  /** From a watcher that is not the holder of the Lease. */
  | { readonly kind: 'stale-epoch' }
  | { readonly kind: 'refused'; readonly code: IngestRefusalCode; readonly field?: string }
  /** Cannot be judged now; the record must come again. */
  | { readonly kind: 'deferred'; readonly reason: 'lease-check-limited' };

/** How a message came. */
export interface IngestContext {
  /** The queue's SentTimestamp. */
  readonly sentAtMs: number;
  /**
   * How old the message's cut was when the queue took it, as the sender says, milliseconds; undefined: it has none, or says
   * nothing that can be read.
   */
  readonly cutAgeMs?: number;
  /** From SenderId, which a sender cannot forge; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
  readonly messageId: string;
  /** MessageGroupId, where the queue gives it: chosen by the sender, and what its message waits in. */
  readonly groupId?: string;
}

/** A body as its codec parsed it. */
export type ParsedBody =
  | { readonly kind: 'message'; readonly message: WatcherMessage }
  | {
      readonly kind: 'refused';
      readonly code: 'undecodable' | 'oversized' | 'unsupported-schema' | 'invalid';
      /** Dotted path of what was refused; empty for the whole. */
      readonly field: string;
      readonly header: Partial<WatcherHeader>;
    };
