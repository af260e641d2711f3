/**
 * What came of one message: a closed union, so that a handler decides by kind and never by text.
 *
 * Only `deferred` leaves the record to its redelivery; everything else is finished business. A lost
 * dependency (a table that throttles, a queue that refuses) is a rejection, not a result.
 */
import type { WatcherHeader, WatcherMessage } from '../../../core/model/watcher-message.ts';

/** Why a message was refused. The first four are about who sent it (S6, protocol 24). */
export type IngestRefusalCode =
  /** It came in the message group of another cluster than it names. */
  | 'wrong-group'
  /** No such cluster is registered. */
  | 'unknown-cluster'
  /** SQS says that another role sent it than the registered one. */
  | 'wrong-sender'
  /** The watcher runs in another cluster than the registered one. */
  | 'wrong-cluster-uid'
  /** It is no JSON, or its payload cannot be decompressed. */
  | 'undecodable'
  /** It is larger than 1 MiB, or than 8 MiB decompressed, or nested deeper than any message. */
  | 'oversized'
  /** Another release wrote it. Update the watcher or the functions. */
  | 'unsupported-schema'
  /** A field is missing, unknown or out of bounds; `field` names it. */
  | 'invalid';

/** Why a view stopped being complete. */
export type LossReason =
  /** A message of the watcher is missing. */
  | 'seq-skipped'
  /** A message of the watcher could not be decoded. */
  | 'undecodable'
  /** A hash of the view differs from the hash of the watcher. */
  | 'set-hash'
  /** Another watcher process took the Lease. */
  | 'new-epoch'
  /** The cluster is new, or was reset. */
  | 'new-cluster'
  /** The etcd of the cluster was restored from a backup. */
  | 'restored'
  /** A snapshot ended before all of its parts came. */
  | 'snapshot-broken'
  /** A snapshot does not match the hash that came with it. */
  | 'snapshot-hash'
  /** A message of the watcher became a dead letter. */
  | 'dead-letter'
  /** An item of the view is missing in the table. */
  | 'slice-missing'
  /** An item is larger than the table takes. */
  | 'item-too-large'
  /** The watcher has not confirmed the present era of the view yet. */
  | 'era-unconfirmed'
  /** Items stood ahead of the position that the table held, so a new era began. */
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
