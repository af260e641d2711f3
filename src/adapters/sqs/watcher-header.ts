/**
 * The header of a watcher's message, without its payload: enough to ask who may speak for a cluster
 * before anything is unpacked (S6, L3). Unverified: never to be trusted before the sender is.
 */
import * as v from 'valibot';
import { isJsonObject } from '../../core/model/json.ts';
import type { JsonObject } from '../../core/model/json.ts';
import type { WatcherHeader } from '../../core/model/watcher-message.ts';
import { ENVELOPE_STRUCTURE, isTooStructured } from './structure-bound.ts';
import { BODY_LENGTH_MAX, headerFields } from './watcher-message-schema.ts';

/** The fields of a header that are valid by themselves. */
export function readableHeader(envelope: JsonObject): Partial<WatcherHeader> {
  const readable = Object.entries(headerFields)
    .filter(([name, schema]) => v.is(schema, envelope[name]))
    .map(([name]) => [name, envelope[name]]);
  return Object.fromEntries(readable) as Partial<WatcherHeader>;
}

/** What can be read of the header of a body. Never throws. */
export function readWatcherHeader(body: string): Partial<WatcherHeader> {
  if (body.length > BODY_LENGTH_MAX) return {};
  if (isTooStructured(Buffer.from(body), ENVELOPE_STRUCTURE)) return {};
  try {
    const envelope: unknown = JSON.parse(body);
    return isJsonObject(envelope) ? readableHeader(envelope) : {};
  } catch {
    // Refused by the codec, with its code.
    return {};
  }
}
