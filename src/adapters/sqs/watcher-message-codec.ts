/**
 * Codec of watcher messages (being written).
 */
import type { WatcherHeader, WatcherMessage } from '../../core/model/watcher-message.ts';

/** Result of parsing the body of a message of events.fifo. */
export type ParsedWatcherMessage =
  | { readonly kind: 'message'; readonly message: WatcherMessage }
  | {
      readonly kind: 'refused';
      readonly code: 'undecodable' | 'oversized' | 'unsupported-schema' | 'invalid';
      /** Dotted path of what was refused; empty for the whole. */
      readonly field: string;
      /** What could be read of the header: unverified, never to be trusted before the sender is. */
      readonly header: Partial<WatcherHeader>;
    };

/** Encodes a message as the body of an SQS message. */
export function encodeWatcherMessage(_message: WatcherMessage): string {
  throw new Error('not written yet');
}

/** Parses a body. Never throws. */
export function parseWatcherMessage(_body: string): ParsedWatcherMessage {
  throw new Error('not written yet');
}
