/**
 * What a refusal of the API server means to a watcher: relist, fall back, wait, or just try again.
 *
 * By status, never by message text. The message is for people.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { SourceFailure } from '../../../ports/cluster/watch-source.ts';
import { readStatus } from '../api/api-status.ts';

/** A refusal: HTTP status, body, and what Retry-After said. */
export interface RefusedRequest {
  readonly status: number;
  readonly body: Json | undefined;
  readonly retryAfterMs?: number;
}

/** Classifies a refusal of a list, a watch, a read or a write. */
export function watchFailure(refused: RefusedRequest): SourceFailure {
  const status = readStatus(refused.body);
  const reason = status === undefined ? '' : ` ${status.reason}: ${status.message}`;
  return {
    kind: failureKind(refused.status),
    message: `HTTP ${String(refused.status)}${reason}`,
    ...defined({ retryAfterMs: refused.retryAfterMs ?? status?.retryAfterMs }),
  };
}

function failureKind(status: number): SourceFailure['kind'] {
  switch (status) {
    case 410:
      return 'expired';
    // What a server answers to sendInitialEvents where WatchList is off (spec aws-facts 8).
    case 400:
    case 422:
      return 'unsupported';
    case 401:
    case 403:
      return 'unauthorized';
    case 429:
      return 'throttled';
    default:
      return 'unavailable';
  }
}
