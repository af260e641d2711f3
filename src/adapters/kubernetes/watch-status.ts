/** What an HTTP status means to a watcher; the only thing that decides, never a message's text. */
import type { SourceFailure } from '../../ports/watch-source.ts';

/** Sorts an HTTP status into what a watcher does about it. */
export function classifyStatus(status: number): SourceFailure['kind'] {
  if (status === 410) return 'expired';
  if (status === 400 || status === 422) return 'unsupported';
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 429 || status === 503 ? 'throttled' : 'unavailable';
}
