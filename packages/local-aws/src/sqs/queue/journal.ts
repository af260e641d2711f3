// What a queue must remember across a restart, as a list of facts; and who writes them down.
//
// Assumes the facts are written, in order, before the answer that they stand behind leaves the process: then an
// acknowledged send is never lost. Visibility timeouts are deliberately not facts: a receiver that held a message died with
// the process, so after a restart everything that was in flight waits again. Receive counts are, because a message
// that kills the process must still reach its dead-letter queue. Replay is in queue.ts, files are in journal-file.ts.
import type { RememberedSend } from './deduplication.ts';
import type { StoredMessage } from './message.ts';
import type { QueueAttributes } from './queue-settings.ts';

/** A fact about one queue. */
export type QueueFact =
  | { readonly op: 'put'; readonly message: StoredMessage }
  | { readonly op: 'remember'; readonly send: RememberedSend }
  | { readonly op: 'receive'; readonly id: string; readonly count: number; readonly atMs: number }
  | { readonly op: 'delete'; readonly id: string }
  | { readonly op: 'purge' }
  | { readonly op: 'sequence'; readonly next: number };

/** A fact about the set of queues. */
export type BrokerFact =
  | { readonly op: 'create'; readonly attributes: QueueAttributes; readonly atMs: number }
  | { readonly op: 'set'; readonly attributes: QueueAttributes; readonly atMs: number }
  | { readonly op: 'drop' };

/** One line of the journal. */
export type JournalEntry = (QueueFact | BrokerFact) & { readonly queue: string };

/** Takes facts in order. */
export type RecordFact = (fact: QueueFact) => void;
