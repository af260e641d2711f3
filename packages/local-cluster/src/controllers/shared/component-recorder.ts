/**
 * The event recorder of a control-plane part: it belongs to no node, and needs no randomness.
 *
 * Names of events must differ within a part's run; a counter in place of the Random port makes them so, and the same run
 * gives the same names.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { LocalClient } from '../../client/local-client.ts';
import { createEventRecorder } from '../../node-agent/shared/event-recorder.ts';
import type { EventRecorder } from '../../node-agent/shared/pod-runtime.ts';
import type { ApiObject } from '../../objects/api-object.ts';

/** An object for an event that names it without its version, as controllers do that hold no more than its name. */
export function withoutVersion(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
}

const STEPS = 1_000_000;

/** A recorder whose events name this component as their source. */
export function createComponentRecorder(options: {
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly component: string;
}): EventRecorder {
  let count = 0;
  const next = (): number => {
    count = (count + 1) % STEPS;
    return count / STEPS;
  };
  const random = { next, uniqueId: () => `${options.component}-${String(next() * STEPS)}` };
  return createEventRecorder({ ...options, host: '', random });
}
