/**
 * The sentinel of the takeovers in a function world: without it nobody acts in takeover (ADR 0012).
 *
 * It is untouched, in the view and at the API server alike, unless a watcher tells that another controller synced it.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { resourceVersion, uid } from '../../../src/core/model/identifiers.ts';
import type { TakeoverSentinel } from '../../../src/core/model/registration.ts';
import { SENTINEL_KEY, sentinelBody } from '../../../src/core/may-act/takeover-sentinel.ts';
import type { Standing } from '../scripted-sender.ts';

/** As a registration names it. */
export const SENTINEL: TakeoverSentinel = { uid: uid('sentinel'), createdAtMs: 1 };

const VERSION = resourceVersion('1');

/** As an API server gives it. */
export function liveSentinel(): JsonObject {
  const { metadata, ...rest } = sentinelBody('rights');
  const given = { uid: SENTINEL.uid, resourceVersion: VERSION, generation: 1 };
  return { ...rest, metadata: { ...(metadata as JsonObject), ...given } };
}

/** As a watcher reports it; `touched`: another controller synced it. */
export function seenSentinel(is: 'untouched' | 'touched' = 'untouched'): Standing {
  const { metadata, spec } = liveSentinel();
  const status = is === 'touched' ? { status: { observedGeneration: 1 } } : {};
  return {
    object: {
      kind: 'DaemonSet',
      ...SENTINEL_KEY,
      uid: SENTINEL.uid,
      resourceVersion: VERSION,
      object: { metadata, spec, ...status } as never, // completed by nobody here
    },
    sets: ['daemonsets'],
  };
}
